package dev.vivarium.core.sandbox;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Admission of machines for threads: capacity, disk space, and a turn to start. Thread-safe.
///
/// The number of concurrent cold starts is limited, because more at once make all of them slower. Requests are served
/// in order.
final class ColdStarts {
    private static final int AT_A_TIME = 4;
    private static final Duration QUEUE = Duration.ofSeconds(30);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

    private final Engine engine;
    private final Capacity capacity;
    private final Semaphore turns = new Semaphore(AT_A_TIME, true);

    ColdStarts(Engine engine, Capacity capacity) {
        this.engine = engine;
        this.capacity = capacity;
    }

    /// Reserves capacity for one sandbox. Fails with `AtCapacity` or `NoDiskSpace`.
    ///
    /// @param what operation of the caller, as in "create a sandbox"
    Capacity.Entry reserve(long diskBytes, String what) {
        engine.space.requireRoom(what);
        Capacity.Entry entry = capacity.enter(diskBytes);
        if (entry == Capacity.Entry.FULL) {
            throw new SandboxException(new Failure.AtCapacity(capacity.limit(), retryAfter()));
        }
        if (entry == Capacity.Entry.OVERCOMMITTED) {
            throw new SandboxException(engine.space.overcommitted(diskBytes, capacity.promisedDiskBytes()));
        }
        return entry;
    }

    /// Releases the capacity of one sandbox.
    void release(long diskBytes) {
        capacity.leave(diskBytes);
    }

    /// Reserves capacity that was just released. Never fails.
    void reserveAgain(long diskBytes) {
        capacity.adopt(diskBytes);
    }

    void awaitTurn() {
        try {
            if (!turns.tryAcquire(QUEUE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SandboxException(new Failure.AtCapacity(capacity.limit(), Duration.ofSeconds(1)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }

    void endTurn() {
        turns.release();
    }

    /// Time until the first of the present sandboxes can end.
    private Duration retryAfter() {
        Duration first = LONGEST_RETRY;
        for (Sandbox sandbox : engine.registry.all()) {
            boolean hasCapacity = !(sandbox.lifecycle().state() instanceof State.Hibernated);
            Duration remaining = sandbox.lease().remaining();
            first = hasCapacity && remaining.compareTo(first) < 0 ? remaining : first;
        }
        return Duration.ofSeconds(Math.max(1, first.toSeconds()));
    }
}
