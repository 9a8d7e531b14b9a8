package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "restore", description = "Replace the files of a thread with those of a snapshot. Ends its processes.")
final class SnapshotRestoreCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask; needed without a terminal.")
    private boolean sure;

    @Parameters(index = "0", paramLabel = "SNAPSHOT", description = "Its id, or THREAD@NAME.")
    private String snapshot = "";

    SnapshotRestoreCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        SnapshotRef ref = SnapshotRef.of(snapshot);
        var snapshots = viv.client().snapshots();
        SnapshotInfo found = ref.resolve(snapshots);
        String thread = found.thread().value();
        if (!sure && !viv.terminal().confirms("replace the files of " + thread + " and end its processes?")) {
            return ExitCode.FAILURE;
        }
        var sandbox = snapshots.restore(found);
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("thread_id", thread);
                out.writeStringProperty("sandbox_id", sandbox.id().value());
                out.writeStringProperty("snapshot_id", found.id().value());
                out.writeStringProperty("state", sandbox.status().text());
            });
        }
        return 0;
    }
}
