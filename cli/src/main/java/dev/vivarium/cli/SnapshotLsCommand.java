package dev.vivarium.cli;

import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "ls", description = "List a thread's snapshots, oldest first.")
final class SnapshotLsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    SnapshotLsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<SnapshotInfo> snapshots = viv.client().snapshots().list(thread);
        if (viv.isJson()) {
            snapshots.forEach(snapshot -> SnapshotCommand.printJson(viv, snapshot));
        } else if (quiet) {
            snapshots.forEach(snapshot -> viv.out().println(snapshot.id().value()));
        } else {
            var table = viv.table("SNAPSHOT", "TAKEN", "SIZE", "NAME");
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
