package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// One running isolated machine with a guest inside. Thread-safe.
public interface Machine {
    SandboxId id();

    /// Waits for the next connection of the guest: the first one after the start, then one after each disconnect.
    /// The caller owns the stream. Throws if the machine has died, or on timeout.
    GuestStream connect(Duration timeout);

    /// Freezes every process. A frozen guest does not reply. Idempotent. Only machines of a provider with
    /// [Capabilities#pauses] implement it; the others fail with `Unsupported`.
    default void pause() {
        throw new SandboxException(
                new Failure.Unsupported("pause", "the provider of sandbox " + id() + " cannot freeze"));
    }

    /// Resumes every process. Idempotent.
    default void resume() {}

    /// Changes the limits that can change in a running machine: memory, processor time and processes. The size of
    /// the disk does not change.
    void limit(Limits limits);

    /// Sets the time that the machine may run without a server, for the orphan watcher. `Guest.setup` sets the same
    /// time in the guest.
    void orphanGrace(Duration grace);

    /// Current resource usage, measured by the kernel.
    Usage usage();

    /// Bytes that the processes have read from and written to storage since the start. A process that ended counts
    /// until its ancestors have ended. Zero if the kernel does not count them.
    long storageBytes();

    /// Reports whether the init process runs.
    boolean isAlive();

    /// Path of the workspace inside the machine.
    String workspace();

    /// Returns the number of OOM kills since the start. Cheaper than [#usage].
    default long oomKills() {
        return usage().oomKills();
    }

    /// Resource usage of a machine. `oomKills` counts the OOM kills since the start.
    record Usage(long memoryBytes, Duration cpu, int processes, long oomKills) {}
}
