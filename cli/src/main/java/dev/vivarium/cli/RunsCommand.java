package dev.vivarium.cli;

import dev.vivarium.cli.run.Runs;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Lists what agents do.
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
            description = "running, paused, completed, failed or terminated; also those whose sandbox has ended.")
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
        String filter = status == null ? "" : "&status=" + Transport.segment(status);
        List<JsonFields> runs =
                server
                        .http(terminal)
                        .get(Runs.PATH + "?limit=1000" + filter, fields -> fields)
                        .objects("sandboxes")
                        .stream()
                        .filter(box -> box.optionalObject("run").isPresent())
                        .toList();
        if (output.isJson()) {
            runs.forEach(run -> terminal.out().println(run.text()));
        } else if (quiet) {
            runs.forEach(run -> terminal.out().println(run.string("sandbox_id")));
        } else {
            var table =
                    new Table(terminal, output, "SANDBOX", "THREAD", "RUNTIME", "STATUS", "COST", "TOOLS", "STARTED");
            runs.forEach(run -> row(table, run));
            table.print();
        }
        return 0;
    }

    private static void row(Table table, JsonFields box) {
        JsonFields run = box.object("run");
        table.row(
                box.string("sandbox_id"),
                box.string("thread_id"),
                run.string("runtime"),
                box.string("status"),
                "$" + BigDecimal.valueOf(run.number("cost_usd")).setScale(4, RoundingMode.HALF_UP),
                Long.toString(run.integer("tool_calls")),
                table.time(run.time("started_at")));
    }
}
