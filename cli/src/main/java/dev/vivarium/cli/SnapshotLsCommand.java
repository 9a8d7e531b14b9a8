package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Lists the snapshots of a thread.
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

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    SnapshotLsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        List<SnapshotInfo> snapshots = server.client(terminal).snapshots().list(thread);
        if (output.isJson()) {
            snapshots.forEach(snapshot -> SnapshotCommand.printJson(terminal, snapshot));
        } else if (quiet) {
            snapshots.forEach(snapshot -> terminal.out().println(snapshot.id().value()));
        } else {
            var table = new Table(terminal, output, "SNAPSHOT", "TAKEN", "SIZE", "NAME");
            snapshots.forEach(snapshot -> table.row(
                    snapshot.id().value(),
                    table.time(snapshot.createdAt()),
                    table.size(snapshot.bytes()),
                    snapshot.name()));
            table.print();
        }
        return 0;
    }
}
