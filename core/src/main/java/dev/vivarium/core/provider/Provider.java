package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A way to run isolated machines. Implementations must pass `ProviderContract`. Thread-safe.
///
/// A machine outlives the provider object: after a restart of the server, [#survivors] names what is still there and
/// [#adopt] takes it over.
public interface Provider extends AutoCloseable {
    /// A short name for people and metrics, such as `oci/native`.
    String name();

    /// What this provider can do here; probed once.
    Capabilities capabilities();

    /// Fails with `InvalidRequest` when there is no image of that name to start a machine from.
    void requireImage(String name);

    /// Starts a machine and returns when its guest process has been started; the guest then connects (see
    /// [Machine#connect]). A disk that exists for the id is used again, with its workspace. On failure
    /// nothing is left but that disk.
    Machine start(MachineSpec spec);

    /// Takes over a machine that an earlier server started, or nothing when it no longer runs.
    Optional<Machine> adopt(SandboxId id, Duration patience);

    /// Every id of which this provider finds a trace: a machine, a mount, a cgroup, a directory or a disk.
    Set<SandboxId> survivors();

    /// Ends the machine if it runs and removes every trace of it; with [Disk#KEEP] the disk stays for a
    /// later [#start]. Idempotent.
    void remove(SandboxId id, Disk disk);

    /// How many bytes of the host's file system each disk takes now. Empty if this provider does not limit disks.
    default Map<SandboxId, Long> diskUsage() {
        return Map.of();
    }

    /// Saves what is on the disk of `id`, whose machine must stand still: paused, or not running. Returns how many
    /// bytes its files take. A snapshot outlives the machine and its disk. On failure nothing is left.
    ///
    /// Snapshots are optional: without them, [Capabilities#snapshots] is `none`, and saving and restoring fail with
    /// `Unsupported`.
    default long snapshot(SandboxId id, SnapshotId snapshot) {
        throw noSnapshots();
    }

    /// Gives `id` a disk with what the snapshot holds, in place of the one it has. Its machine must not run; the
    /// next [#start] finds the disk. Two disks from one snapshot never see each other's writes. On failure the old
    /// disk is still there.
    default void restore(SandboxId id, SnapshotId snapshot) {
        throw noSnapshots();
    }

    /// Throws `Unsupported` if this provider does not keep snapshots.
    default void requireSnapshots() {
        if (!capabilities().keepsSnapshots()) {
            throw noSnapshots();
        }
    }

    private SandboxException noSnapshots() {
        return new SandboxException(
                new Failure.Unsupported("a snapshot", "the provider " + name() + " does not keep snapshots"));
    }

    /// Removes a snapshot; disks that were made from it stay. Idempotent.
    default void deleteSnapshot(SnapshotId snapshot) {}

    /// Every snapshot that is kept here, and what is left of one that was never finished.
    default Set<SnapshotId> snapshots() {
        return Set.of();
    }

    /// Records beside machines, disks and snapshots.
    Inventory inventory();

    /// What becomes of a machine's disk.
    enum Disk {
        KEEP,
        ERASE
    }

    /// Releases what the provider itself holds. Machines go on.
    @Override
    void close();
}
