package dev.vivarium.core.provider;

import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/// One running isolated machine with a guest inside. Thread-safe.
public interface Machine {
    SandboxId id();

    /// Waits for the guest's next connection: the first after the start, another one each time the stream
    /// broke. The caller owns the channel. Throws when the machine died or `patience` ran out.
    SocketChannel connect(Duration patience);

    /// Freezes every process. A frozen guest does not answer. Idempotent.
    void pause();

    /// Thaws every process. Idempotent.
    void resume();

    /// Changes the limits that can change while it runs: memory, processor time and processes. The disk
    /// stays as it is.
    void limit(Limits limits);

    /// Sets how long the machine goes on without a server, as the orphan watcher sees it. The guest has the same
    /// grace from `Guest.setup`.
    void orphanGrace(Duration grace);

    /// What it uses now, by the kernel's account.
    Usage usage();

    /// Reports whether its init still runs.
    boolean isAlive();

    /// Where commands find their files, as they see it.
    String workspace();

    /// The kernel's account of a machine. `oomKills` counts the processes that were killed for want of
    /// memory since the start.
    record Usage(long memoryBytes, Duration cpu, int processes, long oomKills) {}
}
