package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Gives a thread's sandbox the files of a snapshot in place of its own.
@Command(
        name = "restore",
        description = "Give a thread the files of a snapshot. Its own are lost, and everything that runs there ends.")
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
        var http = server.http(terminal);
        JsonFields found = ref.resolve(http);
        String thread = found.string("thread_id");
        if (!sure && !terminal.confirms("replace the files of " + thread + " and end what runs there?")) {
            return ExitCode.FAILURE;
        }
        JsonFields session = http.post(SnapshotRef.path(found) + "/restore", _ -> {}, fields -> fields);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("thread_id", thread);
                out.writeStringProperty("sandbox_id", session.string("session_id"));
                out.writeStringProperty("snapshot_id", found.string("snapshot_id"));
                out.writeStringProperty("state", session.string("state"));
            });
        }
        return 0;
    }
}
