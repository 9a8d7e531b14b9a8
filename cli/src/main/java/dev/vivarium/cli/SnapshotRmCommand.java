package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Deletes snapshots.
@Command(name = "rm", description = "Delete snapshots; what was restored or forked from them stays.")
final class SnapshotRmCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(arity = "1..*", paramLabel = "SNAPSHOT", description = "Its id, or THREAD@NAME.")
    private List<String> snapshots = List.of();

    SnapshotRmCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        // All of them are understood before the first one is gone.
        List<SnapshotRef> meant = snapshots.stream().map(SnapshotRef::of).toList();
        var http = server.http(terminal);
        for (SnapshotRef ref : meant) {
            JsonFields snapshot = ref.resolve(http);
            http.delete(SnapshotRef.path(snapshot));
            if (output.isJson()) {
                terminal.json(out -> {
                    out.writeStringProperty("snapshot_id", snapshot.string("snapshot_id"));
                    out.writeStringProperty("status", "deleted");
                });
            }
        }
        return 0;
    }
}
