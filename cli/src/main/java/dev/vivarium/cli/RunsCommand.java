package dev.vivarium.cli;

import dev.vivarium.model.Run;
import dev.vivarium.sdk.Runs;
import dev.vivarium.sdk.Runs.RunRecord;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "runs",
        description = "List your agents' runs, newest first, or show one.",
        footer = {
            "",
            "  viv runs --thread fix        list the runs of a thread",
            "  viv runs RUN --json         show a run with its result"
        })
final class RunsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            description = "creating, running, paused, completed, failed or terminated.")
    private @Nullable String status;

    @Option(names = "--thread", paramLabel = "THREAD", description = "Only runs in this thread.")
    private @Nullable String thread;

    @Option(names = "--task", paramLabel = "TASK", description = "Only runs on the task with this id.")
    private @Nullable String task;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of runs (100).")
    private int limit = 100;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    @Parameters(index = "0", arity = "0..1", paramLabel = "RUN", description = "Id of one run.")
    private @Nullable String id;

    RunsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Runs client = viv.client().runs();
        var filter = new Runs.HistoryFilter(
                Optional.ofNullable(thread), Optional.ofNullable(task), Optional.ofNullable(status), limit);
        List<RunRecord> runs = id == null ? client.history(filter) : List.of(client.get(id));
        if (viv.isJson()) {
            runs.forEach(run -> viv.printJson(run.json()));
        } else if (quiet) {
            runs.forEach(run -> viv.out().println(run.run().id()));
        } else {
            table(runs);
        }
        return 0;
    }

    private void table(List<RunRecord> runs) {
        var table = viv.table("RUN", "SANDBOX", "THREAD", "RUNTIME", "STATUS", "COST", "TOOLS", "STARTED", "TITLE");
        for (RunRecord entry : runs) {
            Run run = entry.run();
            table.row(
                    run.id().value(),
                    run.sandbox().value(),
                    run.thread().value(),
                    run.program().runtime().text(),
                    status(run),
                    "$" + run.spent().costUsd().setScale(4, RoundingMode.HALF_UP),
                    Long.toString(run.spent().toolCalls()),
                    table.time(run.startedAt()),
                    entry.title());
        }
        table.print();
    }

    /// The status, with the reason code of a run that did not complete.
    private static String status(Run run) {
        boolean isExplained = run.status().isFinal() && run.status() != Run.Status.COMPLETED;
        return run.status().text()
                + run.reasonCode()
                        .filter(code -> isExplained && !code.equals(run.status().text()))
                        .map(code -> " (" + code + ")")
                        .orElse("");
    }
}
