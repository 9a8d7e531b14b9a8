package dev.vivarium.server.http;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.RightsChanges.Change;
import dev.vivarium.model.Failure;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// Registry of the access rights of all open requests and connections. Thread-safe.
///
/// It rechecks a right when a change that concerns it is published, when the right expires, and every 30 s as a safety
/// net.
public final class AccessRegistry implements AutoCloseable {
    /// Maximum delay until the registry detects an expired right.
    private static final Duration TICK = Duration.ofMillis(250);

    /// Interval of the safety net. It is long because a check may need a query and there may be thousands of
    /// streams.
    private static final Duration RECHECK_EVERY = Duration.ofSeconds(30);

    private final DrainGate gate;
    private final InstantSource clock;
    private final Set<Access> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong changes = new AtomicLong();
    private final Scheduler.Jobs jobs;

    public AccessRegistry(DrainGate gate, Scheduler scheduler) {
        this.gate = gate;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs().every(TICK, "access check", this::tick);
    }

    /// Returns the number of published changes. Read it before the admission of a caller, for [Access#since].
    long changes() {
        return changes.get();
    }

    /// Registers the right of a caller.
    ///
    /// @param end latest end of the right
    /// @param onLoss called once, on its own thread, if the right is lost
    Access open(Caller caller, Instant end, Access.Check check, Consumer<Failure> onLoss) {
        var access = new Access(this, caller, end, check, onLoss);
        open.add(access);
        return access;
    }

    /// Rechecks the rights that the change concerns.
    void changed(Change change) {
        changes.incrementAndGet();
        open.stream().filter(access -> access.isConcernedBy(change)).forEach(AccessRegistry::recheck);
    }

    private void tick() {
        Instant now = clock.instant();
        long nanos = System.nanoTime();
        open.stream().filter(access -> access.isDue(now, nanos, RECHECK_EVERY)).forEach(AccessRegistry::recheck);
    }

    /// Starts a recheck on its own thread, because a check may block.
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
        jobs.close();
    }
}
