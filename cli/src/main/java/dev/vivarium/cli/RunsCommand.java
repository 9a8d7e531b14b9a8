package dev.vivarium.cli;

import dev.vivarium.model.Run;
import dev.vivarium.sdk.Runs;
import dev.vivarium.sdk.Runs.SandboxRun;
import java.math.RoundingMode;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `viv runs`: lists runs of agents.
@Command(name = "runs", description = "List your agents' runs, newest first.")
final class RunsCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            description = "running, paused, completed, failed or terminated; includes ended sandboxes.")
    private @Nullable String status;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    RunsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Runs client = server.client(terminal).runs();
        List<SandboxRun> runs = (status == null ? client.list() : client.listByStatus(status))
                .stream().filter(entry -> entry.run().isPresent()).toList();
        if (output.isJson()) {
            runs.forEach(run -> terminal.out().println(run.json()));
        } else if (quiet) {
            runs.forEach(run -> terminal.out().println(run.sandbox().value()));
        } else {
            var table =
                    new Table(terminal, output, "SANDBOX", "THREAD", "RUNTIME", "STATUS", "COST", "TOOLS", "STARTED");
            runs.forEach(run -> row(table, run));
            table.print();
        }
        return 0;
    }

    private static void row(Table table, SandboxRun entry) {
        Run run = entry.run().orElseThrow();
        table.row(
                entry.sandbox().value(),
                entry.thread().value(),
                run.program().runtime().text(),
                entry.status(),
                "$" + run.spent().costUsd().setScale(4, RoundingMode.HALF_UP),
                Long.toString(run.spent().toolCalls()),
                table.time(run.startedAt()));
    }
}
