package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.access.ThreadName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Snapshots of a thread, for callers with the scope `snapshot`. Thread-safe.
public final class ThreadSnapshots {
    private final Sandboxes sandboxes;
    private final SandboxLookup lookup;
    private final Duration lease;

    /// @param lease idle timeout of the sandboxes of forks
    public ThreadSnapshots(Sandboxes sandboxes, SandboxLookup lookup, Duration lease) {
        this.sandboxes = sandboxes;
        this.lookup = lookup;
        this.lease = lease;
    }

    /// Snapshots of a thread and the relations between them, as far as the caller may see the threads. Immutable.
    ///
    /// @param snapshots    oldest first
    /// @param forks        sandboxes of other threads that started from these snapshots
    /// @param origin       snapshot from which the disk of the thread's sandbox was created
    /// @param originThread thread of the snapshot that this thread was forked from
    public record Listing(
            List<SnapshotInfo> snapshots,
            List<DiskOrigins.Origin> forks,
            Optional<DiskOrigins.Origin> origin,
            Optional<ThreadKey> originThread) {}

    /// @param user owner of the fork; empty for the caller, or for the owner of the snapshot if the caller is an
    /// admin
    public record Fork(ThreadId thread, Optional<UserId> user) {}

    /// Finds a snapshot by its id alone.
    public SnapshotInfo find(Principal caller, String id) {
        var snapshot = sandboxes
                .snapshots()
                .find(id)
                .filter(found -> isVisible(caller, found.key()))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(id)));
        lookup.require(caller, name(snapshot.key()), Scope.SNAPSHOT);
        return snapshot;
    }

    /// Authorizes the caller for the snapshots of a thread.
    public Authorized of(Principal caller, ThreadAccess access) {
        SandboxLookup.requireScope(access.scopes(), Scope.SNAPSHOT);
        return new Authorized(caller, access.key());
    }

    private boolean isVisible(Principal caller, ThreadKey key) {
        return lookup.find(caller, name(key)).isPresent();
    }

    private static ThreadName name(ThreadKey key) {
        return new ThreadName(key.thread(), Optional.of(key.user()));
    }

    /// Operations of an authorized caller. Immutable.
    public final class Authorized {
        private final Principal caller;
        private final ThreadKey thread;

        private Authorized(Principal caller, ThreadKey thread) {
            this.caller = caller;
            this.thread = thread;
        }

        public SnapshotInfo take(String name) {
            return sandboxes.snapshots().take(sandboxes.require(thread), name);
        }

        public Listing list() {
            var snapshots = sandboxes.snapshots();
            var all = snapshots.list(thread);
            var forks = snapshots.origins().forksOf(thread).stream()
                    .filter(fork -> isVisible(caller, fork.key()))
                    .toList();
            var origin = sandboxes
                    .find(thread)
                    .flatMap(sandbox -> snapshots.origins().find(sandbox.id()));
            var originThread = origin.flatMap(DiskOrigins.Origin::forkedFrom)
                    .flatMap(from -> snapshots.find(from.value()))
                    .map(SnapshotInfo::key)
                    .filter(from -> isVisible(caller, from));
            return new Listing(all, forks, origin, originThread);
        }

        public SnapshotInfo require(String id) {
            return sandboxes.snapshots().require(thread, id);
        }

        /// Forks of the snapshot stay.
        public void delete(SnapshotInfo snapshot) {
            sandboxes.snapshots().delete(snapshot);
        }

        /// The sandbox keeps its id and loses its processes.
        public SandboxInfo restore(SnapshotInfo snapshot) {
            var sandbox = sandboxes.require(thread);
            sandboxes.snapshots().restore(sandbox, snapshot);
            return sandbox.info();
        }

        public SandboxInfo fork(SnapshotInfo snapshot, Fork request) {
            var plain = NewSandbox.of(owner(request.user), request.thread).withIdleTimeout(lease);
            var source = sandboxes.find(thread).map(sandbox -> sandbox.info().onIdle());
            return sandboxes
                    .fork(source.map(plain::withOnIdle).orElse(plain), snapshot)
                    .info();
        }

        private UserId owner(Optional<UserId> wanted) {
            if (wanted.isPresent() && !caller.mayActFor(wanted.get())) {
                throw new SandboxException(new Failure.NotAllowed("a fork is for its caller; leave user_id out"));
            }
            return wanted.or(caller::user).orElse(thread.user());
        }
    }
}
