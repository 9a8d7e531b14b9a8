package dev.vivarium.sdk.local;

import static dev.vivarium.sdk.local.LocalEngine.interruptibly;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.engine.Snapshots;
import java.util.List;
import java.util.Optional;

/// Snapshots of sandboxes in this process. Thread-safe.
final class LocalSnapshots implements Snapshots {
    private final Sandboxes sandboxes;

    LocalSnapshots(Sandboxes sandboxes) {
        this.sandboxes = sandboxes;
    }

    @Override
    public SnapshotInfo take(String thread, String name) {
        return interruptibly(() -> sandboxes.snapshots().take(sandboxes.require(key(thread)), name));
    }

    @Override
    public List<SnapshotInfo> list(String thread) {
        return sandboxes.snapshots().list(key(thread));
    }

    @Override
    public SnapshotInfo get(String id) {
        return sandboxes.snapshots().find(id).orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(id)));
    }

    @Override
    public SandboxInfo restore(SnapshotInfo snapshot) {
        return interruptibly(() -> {
            Sandbox sandbox = sandboxes.require(snapshot.key());
            sandboxes.snapshots().restore(sandbox, snapshot);
            return sandbox.info();
        });
    }

    @Override
    public SandboxInfo fork(SnapshotInfo snapshot, String thread, Optional<String> user) {
        UserId owner = user.map(UserId::new).orElse(snapshot.key().user());
        return interruptibly(() -> sandboxes
                .fork(NewSandbox.of(owner, new ThreadId(thread)), snapshot)
                .info());
    }

    private ThreadKey key(String thread) {
        var name = new ThreadId(thread);
        return LocalEngine.key(sandboxes, name)
                .orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(name)));
    }

    @Override
    public void delete(SnapshotInfo snapshot) {
        interruptibly(() -> {
            sandboxes.snapshots().delete(snapshot);
            return snapshot;
        });
    }
}
