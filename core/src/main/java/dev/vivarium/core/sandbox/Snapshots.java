package dev.vivarium.core.sandbox;

import dev.vivarium.core.Undo;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots of the disks of threads. They outlive sandboxes and servers. Thread-safe.
///
/// A snapshot gets its row when its files are complete, and loses the row before the files are deleted. Files without a
/// row are moved to `orphans/`.
public final class Snapshots {
    /// Maximum number of snapshots of a thread.
    public static final int PER_THREAD = 50;

    private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final Engine engine;
    private final SnapshotRows rows;
    private final DiskOrigins origins;
    private final Restart restart;
    private final GuestConnections connections;
    private final Recovery recovery;
    private final Set<SnapshotId> beingTaken = ConcurrentHashMap.newKeySet();
    private final Map<SnapshotId, Integer> beingUsed = new ConcurrentHashMap<>();

    /// Snapshots that were deleted while their files were copied.
    private final Set<SnapshotId> deleted = ConcurrentHashMap.newKeySet();

    Snapshots(
            Engine engine,
            SnapshotRows rows,
            DiskOrigins origins,
            Restart restart,
            GuestConnections connections,
            Recovery recovery) {
        this.engine = engine;
        this.rows = rows;
        this.origins = origins;
        this.restart = restart;
        this.connections = connections;
        this.recovery = recovery;
    }

    /// Throws `Unsupported` if the provider does not support snapshots.
    public void requireSupported() {
        engine.provider.requireSnapshots();
    }

    /// Saves the files of a running, paused or hibernated sandbox. Its processes are frozen meanwhile.
    public SnapshotInfo take(Sandbox sandbox, String name) {
        engine.tasks.refuseWhileDraining();
        engine.provider.requireSnapshots();
        engine.space.requireRoom("take a snapshot");
        SnapshotInfo.requireName(name);
        if (rows.count(sandbox.owner()) >= PER_THREAD) {
            throw new SandboxException(new Failure.TooManySnapshots(sandbox.thread(), PER_THREAD));
        }
        UserId user = sandbox.owner().user();
        engine.quotas.beginSnapshot(user);
        SnapshotId id = engine.timeSource.newSnapshotId();
        beingTaken.add(id);
        try (var undo = new Undo()) {
            undo.add("delete snapshot " + id, () -> engine.provider.deleteSnapshot(id));
            long bytes = save(sandbox, id);
            SnapshotInfo snapshot = store(sandbox.info(), id, name, bytes);
            undo.keep();
            origins.now(sandbox.id(), sandbox.owner(), id);
            return snapshot;
        } finally {
            beingTaken.remove(id);
            engine.quotas.endSnapshot(user);
        }
    }

    /// Saves the files of a sandbox that has crashed. Only a listener of its end can call this method, while the
    /// machine still exists. Needs no quota, because the snapshot replaces the disk.
    public SnapshotInfo rescue(SandboxInfo crashed, String name) {
        engine.provider.requireSnapshots();
        engine.space.requireRoom("take a snapshot");
        SnapshotId id = engine.timeSource.newSnapshotId();
        beingTaken.add(id);
        try (var undo = new Undo()) {
            undo.add("delete snapshot " + id, () -> engine.provider.deleteSnapshot(id));
            long bytes = engine.registry.exclusively(crashed.id(), () -> engine.provider.snapshot(crashed.id(), id));
            SnapshotInfo snapshot = store(crashed, id, name, bytes);
            undo.keep();
            return snapshot;
        } finally {
            beingTaken.remove(id);
        }
    }

    private SnapshotInfo store(SandboxInfo sandbox, SnapshotId id, String name, long bytes) {
        var snapshot = new SnapshotInfo(
                id,
                sandbox.key(),
                sandbox.id(),
                name,
                bytes,
                sandbox.limits().diskBytes(),
                engine.timeSource.now(),
                origins.find(sandbox.id()).map(DiskOrigins.Origin::snapshot));
        engine.inventory.label(id, LabelFields.of(engine.store, snapshot));
        rows.insert(snapshot);
        return snapshot;
    }

    /// Holds a pending transition without completing it, so that no other thread changes the state of the sandbox.
    /// If the server dies here, the recovery resumes the sandbox.
    private long save(Sandbox sandbox, SnapshotId id) {
        sandbox.awaitFound();
        try (PendingTransition pending = begin(sandbox, Transition.PAUSE)
                .or(() -> begin(sandbox, Transition.RESUME))
                .or(() -> begin(sandbox, Transition.WAKE))
                .orElseThrow(() -> refusal(sandbox))) {
            return engine.registry.exclusively(sandbox.id(), () -> {
                sandbox.requireNotEnded();
                return pending.before() instanceof State.Running running
                        ? saveFrozen(running.machine(), id)
                        : engine.provider.snapshot(sandbox.id(), id);
            });
        }
    }

    private long saveFrozen(Machine machine, SnapshotId id) {
        try {
            machine.pause();
            return engine.provider.snapshot(machine.id(), id);
        } finally {
            machine.resume();
        }
    }

    private static Optional<PendingTransition> begin(Sandbox sandbox, Transition step) {
        return sandbox.lifecycle().tryBegin(step, TIMEOUT);
    }

    private static SandboxException refusal(Sandbox sandbox) {
        sandbox.requireNotEnded();
        return new SandboxException(new Failure.SandboxNotRunning(
                sandbox.id(), sandbox.lifecycle().state().status()));
    }

    /// Snapshots of a thread, oldest first.
    public List<SnapshotInfo> list(ThreadKey key) {
        return rows.list(key);
    }

    /// Snapshots from which the disks of sandboxes were created.
    public DiskOrigins origins() {
        return origins;
    }

    /// Snapshot of this thread. Fails with `NoSuchSnapshot`, also for a snapshot of another thread.
    public SnapshotInfo require(ThreadKey key, String id) {
        return find(id).filter(snapshot -> snapshot.key().equals(key))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(id)));
    }

    /// Snapshot of any thread.
    public Optional<SnapshotInfo> find(String id) {
        return SnapshotId.isWellFormed(id) ? rows.find(new SnapshotId(id)) : Optional.empty();
    }

    /// Deletes a snapshot. Restored and forked sandboxes keep their files.
    public void delete(SnapshotInfo snapshot) {
        deleted.add(snapshot.id());
        rows.delete(snapshot.id());
        // The reconciler later deletes files that are being copied.
        if (!beingUsed.containsKey(snapshot.id())) {
            engine.provider.deleteSnapshot(snapshot.id());
            deleted.remove(snapshot.id());
        }
    }

    /// Locks the files of a snapshot. Fails with `NoSuchSnapshot` if the snapshot was deleted, and with
    /// `Unsupported` if the provider does not support snapshots.
    Use use(SnapshotInfo snapshot) {
        engine.provider.requireSnapshots();
        var use = new Use(snapshot.id());
        if (rows.find(snapshot.id()).isEmpty()) {
            use.close();
            throw new SandboxException(new Failure.NoSuchSnapshot(snapshot.id().value()));
        }
        return use;
    }

    /// Lock on the files of a snapshot. While it is open, the files stay, even if the snapshot is deleted.
    final class Use implements AutoCloseable {
        private final SnapshotId id;

        private Use(SnapshotId id) {
            this.id = id;
            beingUsed.merge(id, 1, Integer::sum);
        }

        @Override
        public void close() {
            beingUsed.computeIfPresent(id, (_, uses) -> uses == 1 ? null : uses - 1);
        }
    }

    /// Deletes all snapshots of a thread. Forks share blocks with them but no files, so they stay intact.
    public void deleteAll(ThreadKey key) {
        rows.list(key).forEach(this::delete);
    }

    /// Replaces the files of a sandbox with those of a snapshot. The sandbox keeps its id. Its processes are
    /// killed, and it runs afterwards even if it was paused. On failure, it continues with its old files.
    public void restore(Sandbox sandbox, SnapshotInfo snapshot) {
        engine.tasks.refuseWhileDraining();
        engine.space.requireRoom("restore a snapshot");
        if (snapshot.diskBytes() != sandbox.info().limits().diskBytes()) {
            throw new SandboxException(new Failure.Unsupported(
                    "restoring " + snapshot.id(), "its disk has another size; fork it into a new thread"));
        }
        try (var _ = use(snapshot)) {
            sandbox.resume(PauseReason.RESTORE);
            stop(sandbox);
            Replaced replaced = restart(sandbox, snapshot.id());
            if (replaced.failure().isPresent()) {
                throw replaced.failure().get();
            }
            origins.now(sandbox.id(), sandbox.owner(), snapshot.id());
            sandbox.lease().touch();
        }
    }

    /// Restarted machine; after a failure, with its old files.
    private record Replaced(Launched launched, Optional<RuntimeException> failure) {}

    /// From here on, callers wait; the state is `Creating`.
    private static void stop(Sandbox sandbox) {
        State.Running running;
        try (PendingTransition pending = begin(sandbox, Transition.LOSE).orElseThrow(() -> refusal(sandbox))) {
            running = (State.Running) pending.before();
            if (!pending.complete(new State.Recovering(Status.CREATING))) {
                throw refusal(sandbox);
            }
        }
        running.guest().close();
    }

    /// If the machine does not start, the caller gets the failure, and the server keeps trying: the sandbox keeps
    /// its disk.
    private Replaced restart(Sandbox sandbox, SnapshotId snapshot) {
        try {
            Replaced replaced = engine.registry.exclusively(sandbox.id(), () -> replace(sandbox, snapshot));
            Launched launched = replaced.launched();
            connections.recovered(sandbox, launched.machine(), launched.guest(), SandboxListener.Recovery.RESTORED);
            return replaced;
        } catch (RuntimeException e) {
            recovery.findLater(sandbox, Status.RUNNING);
            throw e;
        }
    }

    private Replaced replace(Sandbox sandbox, SnapshotId snapshot) {
        sandbox.requireNotEnded();
        engine.provider.remove(sandbox.id(), Disk.KEEP);
        var failure = tryReplace(sandbox, snapshot);
        Launched launched = restart.start(sandbox, sandbox.lease().endsAt())
                .orElseThrow(() -> new SandboxException(new Failure.ProviderFailed(
                        "restoring " + snapshot, "sandbox " + sandbox.id() + " has no disk")));
        return new Replaced(launched, failure);
    }

    private Optional<RuntimeException> tryReplace(Sandbox sandbox, SnapshotId snapshot) {
        try {
            engine.provider.restore(sandbox.id(), snapshot);
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(e);
        }
    }

    /// Removes the files of snapshots without a row. The order matters: a snapshot is registered as being taken
    /// before it has files, and it has a row before that registration ends.
    void reconcile() {
        for (SnapshotId id : engine.provider.snapshots()) {
            if (!beingTaken.contains(id) && rows.find(id).isEmpty() && !beingUsed.containsKey(id)) {
                clear(id);
            }
        }
    }

    /// A complete snapshot without a row may belong to a lost row, unless it was just deleted.
    private void clear(SnapshotId id) {
        if (deleted.remove(id) || !engine.inventory.trace(id).hasDisk()) {
            engine.provider.deleteSnapshot(id);
            LOG.info("snapshot {} had no owner and was removed", id);
        } else {
            engine.inventory.setAside(id, engine.timeSource.now());
            LOG.warn("the store has no snapshot {}; its files are in orphans/", id);
        }
    }

    /// Moves snapshots back from `orphans/` if the store has their rows again.
    void restoreKnownOrphans() {
        for (SnapshotId id : engine.inventory.orphanSnapshots().keySet()) {
            if (rows.find(id).isPresent()) {
                engine.inventory.restoreOrphan(id);
                LOG.info("snapshot {} was moved back from orphans/", id);
            }
        }
    }

    /// Writes the labels of snapshots of an older version.
    void labelAll() {
        for (SnapshotId id : engine.provider.snapshots()) {
            if (engine.inventory.trace(id).label().isEmpty()) {
                rows.find(id).ifPresent(this::label);
            }
        }
    }

    private void label(SnapshotInfo snapshot) {
        engine.inventory.label(snapshot.id(), LabelFields.of(engine.store, snapshot));
    }
}
