package dev.vivarium.server.http;

import dev.vivarium.core.access.RightsChanges.Change;
import dev.vivarium.model.Failure;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// Every right by which something is open now. A right is checked again when a change is published that concerns it,
/// when it expires, and every 30 s in case something else changed. Thread-safe.
public final class AccessRegistry implements AutoCloseable {
    /// How soon an expired right is noticed.
    private static final Duration TICK = Duration.ofMillis(250);

    /// A check may need a query, and there may be thousands of streams: losses are published, this is the safety
    /// net.
    private static final Duration RECHECK_EVERY = Duration.ofSeconds(30);

    private final DrainGate gate;
    private final InstantSource clock;
    private final Set<Access> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong changes = new AtomicLong();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("accesses").factory());

    public AccessRegistry(DrainGate gate, InstantSource clock) {
        this.gate = gate;
        this.clock = clock;
        var _ = timer.scheduleWithFixedDelay(this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /// How many changes were published. Read it before a caller is admitted, for [Access#since].
    long changes() {
        return changes.get();
    }

    /// Holds the right of a caller.
    ///
    /// @param end when the right ends at the latest
    /// @param onLoss called once, by a thread of its own, if the right is lost
    Access open(Caller caller, Instant end, Access.Check check, Consumer<Failure> onLoss) {
        var access = new Access(this, caller, end, check, onLoss);
        open.add(access);
        return access;
    }

    /// Checks again the rights that the change concerns.
    public void changed(Change change) {
        changes.incrementAndGet();
        open.stream().filter(access -> access.isConcernedBy(change)).forEach(AccessRegistry::recheck);
    }

    private void tick() {
        Instant now = clock.instant();
        long nanos = System.nanoTime();
        open.stream().filter(access -> access.isDue(now, nanos, RECHECK_EVERY)).forEach(AccessRegistry::recheck);
    }

    /// A check may have to wait, and nothing else may wait for it.
    static void recheck(Access access) {
        Thread.ofVirtual().name("access-check").start(access::recheck);
    }

    boolean contains(Access access) {
        return open.contains(access);
    }

    void remove(Access access) {
        open.remove(access);
    }

    Instant now() {
        return clock.instant();
    }

    boolean isShuttingDown() {
        return gate.isShut();
    }

    /// Idempotent.
    @Override
    public void close() {
        timer.shutdownNow();
    }
}
