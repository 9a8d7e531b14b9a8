package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Replaces the files of a thread's sandbox by those of a snapshot.
@Command(name = "restore", description = "Replace the files of a thread with those of a snapshot. Ends its processes.")
final class SnapshotRestoreCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean sure;

    @Parameters(index = "0", paramLabel = "SNAPSHOT", description = "Its id, or THREAD@NAME.")
    private String snapshot = "";

    SnapshotRestoreCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        SnapshotRef ref = SnapshotRef.of(snapshot);
        var snapshots = server.client(terminal).snapshots();
        SnapshotInfo found = ref.resolve(snapshots);
        String thread = found.thread().value();
        if (!sure && !terminal.confirms("replace the files of " + thread + " and end its processes?")) {
            return ExitCode.FAILURE;
        }
        var sandbox = snapshots.restore(found);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("thread_id", thread);
                out.writeStringProperty("sandbox_id", sandbox.id().value());
                out.writeStringProperty("snapshot_id", found.id().value());
                out.writeStringProperty("state", sandbox.status().label());
            });
        }
        return 0;
    }
}
