package dev.vivarium.cli;

import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.sdk.engine.Snapshots;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "fork",
        description = "Create a thread with the files of another thread or of a snapshot.",
        footer = {
            "",
            "  viv fork t1 t2                      from the current files of t1",
            "  viv fork t1@before-upgrade t2       from the newest snapshot with this name",
            "  viv fork snp… t2                    from the snapshot with this id",
            "The threads do not share later changes. Processes are not copied."
        })
final class ForkCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "THREAD|SNAPSHOT", description = "Thread or snapshot.")
    private String source = "";

    @Parameters(index = "1", paramLabel = "NEW", description = "New thread, without a sandbox.")
    private String target = "";

    ForkCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var account = viv.account();
        Snapshots snapshots = viv.client(account).snapshots();
        Optional<SnapshotRef> saved = SnapshotRef.find(source);
        SandboxInfo sandbox = saved.isPresent()
                ? snapshots.fork(saved.get().resolve(snapshots), target, account.user())
                : forkAsItIs(snapshots, account.user());
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("thread_id", target);
                out.writeStringProperty("sandbox_id", sandbox.id().value());
                out.writeStringProperty("user_id", sandbox.user().value());
                out.writeStringProperty("from", source);
            });
        } else {
            viv.note(target + " is ready:  viv ls " + target);
        }
        return 0;
    }

    /// Forks from a temporary snapshot.
    private SandboxInfo forkAsItIs(Snapshots snapshots, Optional<String> user) {
        SnapshotInfo snapshot = snapshots.take(source, "");
        try {
            return snapshots.fork(snapshot, target, user);
        } finally {
            delete(snapshots, snapshot);
        }
    }

    private void delete(Snapshots snapshots, SnapshotInfo snapshot) {
        try {
            snapshots.delete(snapshot);
        } catch (SandboxException e) {
            viv.note("snapshot " + snapshot.id().value() + " remains: "
                    + e.failure().sentence());
        }
    }
}
