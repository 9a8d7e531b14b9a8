package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Provider of isolated machines. Implementations must pass `ProviderContract`. Thread-safe.
///
/// A machine outlives the provider object: after a restart of the server, [#survivors] lists the existing machines, and
/// [#adopt] takes one over.
public interface Provider extends AutoCloseable {
    /// Short name for people and metrics, such as `oci/native`.
    String name();

    /// Capabilities on this host, probed once.
    Capabilities capabilities();

    /// Fails with `InvalidRequest` if there is no image of that name.
    void requireImage(String name);

    /// Starts a machine and returns after the start of its guest process; the guest then connects (see
    /// [Machine#connect]). An existing disk of the id is reused, with its workspace. On failure, only that disk
    /// remains.
    Machine start(MachineSpec spec);

    /// Takes over a machine that an earlier server started; empty if it no longer runs.
    Optional<Machine> adopt(SandboxId id, Duration timeout);

    /// Reports the processes of all machines to a listener until the provider is closed. Call it once, before any
    /// machine is started or adopted. Without effect if [Capabilities#processes] is `none` afterwards.
    default void reportProcesses(ProcessListener listener) {}

    /// Every id with a trace at this provider: a machine, a mount, a cgroup, a directory or a disk.
    Set<SandboxId> survivors();

    /// Kills the machine if it runs, and removes every trace of it; with [Disk#KEEP], the disk stays for a later
    /// [#start]. Idempotent.
    void remove(SandboxId id, Disk disk);

    /// Bytes that each disk occupies in the file system of the host. Empty if this provider does not limit disks.
    default Map<SandboxId, Long> diskUsage() {
        return Map.of();
    }

    /// Saves the disk of `id`, whose machine must be paused or stopped. Returns the size of its files in bytes. A
    /// snapshot outlives the machine and its disk. On failure, nothing remains.
    ///
    /// Snapshots are optional: without them, [Capabilities#snapshots] is `none`, and saving and restoring fail with
    /// `Unsupported`.
    default long snapshot(SandboxId id, SnapshotId snapshot) {
        throw noSnapshots();
    }

    /// Replaces the disk of `id` with a copy of the snapshot. Its machine must not run; the next [#start] uses the
    /// disk. Two disks from one snapshot are independent. On failure, the old disk remains.
    default void restore(SandboxId id, SnapshotId snapshot) {
        throw noSnapshots();
    }

    /// Throws `Unsupported` if this provider does not support snapshots.
    default void requireSnapshots() {
        if (!capabilities().keepsSnapshots()) {
            throw noSnapshots();
        }
    }

    private SandboxException noSnapshots() {
        return new SandboxException(
                new Failure.Unsupported("a snapshot", "the provider " + name() + " does not keep snapshots"));
    }

    /// Deletes a snapshot; disks that were created from it stay. Idempotent.
    default void deleteSnapshot(SnapshotId snapshot) {}

    /// Every snapshot, including the files of incomplete snapshots.
    default Set<SnapshotId> snapshots() {
        return Set.of();
    }

    /// Records beside machines, disks and snapshots.
    Inventory inventory();

    /// Treatment of the disk of a removed machine.
    enum Disk {
        KEEP,
        ERASE
    }

    /// Releases the resources of the provider. Machines continue.
    @Override
    void close();
}
