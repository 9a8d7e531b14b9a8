package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Lists what was saved of a thread.
@Command(name = "ls", description = "List a thread's snapshots, oldest first.")
final class SnapshotLsCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation.")
    private String thread = "";

    SnapshotLsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        List<JsonFields> snapshots =
                server.http(terminal).get(SnapshotRef.all(thread), fields -> fields.objects("snapshots"));
        if (output.isJson()) {
            snapshots.forEach(snapshot -> SnapshotCommand.printJson(terminal, snapshot));
        } else if (quiet) {
            snapshots.forEach(snapshot -> terminal.out().println(snapshot.string("snapshot_id")));
        } else {
            var table = new Table(terminal, output, "SNAPSHOT", "TAKEN", "SIZE", "NAME");
            snapshots.forEach(snapshot -> table.row(
                    snapshot.string("snapshot_id"),
                    table.time(snapshot.time("created_at")),
                    table.size(snapshot.integer("bytes")),
                    snapshot.string("name")));
            table.print();
        }
        return 0;
    }
}
