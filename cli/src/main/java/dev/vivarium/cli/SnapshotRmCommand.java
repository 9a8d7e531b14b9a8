package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Deletes snapshots.
@Command(name = "rm", description = "Delete snapshots. Restored and forked threads keep their files.")
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
        // All references are parsed before the first snapshot is deleted.
        List<SnapshotRef> refs = snapshots.stream().map(SnapshotRef::of).toList();
        var client = server.client(terminal).snapshots();
        for (SnapshotRef ref : refs) {
            SnapshotInfo snapshot = ref.resolve(client);
            client.delete(snapshot);
            if (output.isJson()) {
                terminal.json(out -> {
                    out.writeStringProperty("snapshot_id", snapshot.id().value());
                    out.writeStringProperty("status", "deleted");
                });
            }
        }
        return 0;
    }
}
