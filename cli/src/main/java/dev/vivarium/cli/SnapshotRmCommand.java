package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "rm", description = "Delete snapshots. Restored and forked threads keep their files.")
final class SnapshotRmCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(arity = "1..*", paramLabel = "SNAPSHOT", description = "Its id, or THREAD@NAME.")
    private List<String> snapshots = List.of();

    SnapshotRmCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        // All references are parsed before the first snapshot is deleted.
        List<SnapshotRef> refs = snapshots.stream().map(SnapshotRef::of).toList();
        var client = viv.client().snapshots();
        for (SnapshotRef ref : refs) {
            SnapshotInfo snapshot = ref.resolve(client);
            client.delete(snapshot);
            if (viv.isJson()) {
                viv.json(out -> {
                    out.writeStringProperty("snapshot_id", snapshot.id().value());
                    out.writeStringProperty("status", "deleted");
                });
            }
        }
        return 0;
    }
}
