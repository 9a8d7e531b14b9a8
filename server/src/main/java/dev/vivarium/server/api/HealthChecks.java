package dev.vivarium.server.api;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.guard.anomaly.HealthSample;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.DrainGate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Periodic checks of the parts that the server requires. Thread-safe.
///
/// Each check runs every second on a platform thread, because it must work when no virtual thread runs. Callers get the
/// last results at once, so a part that does not respond cannot delay them.
public final class HealthChecks implements AutoCloseable {
    /// Maximum response time of a part.
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private static final Duration EVERY = Duration.ofSeconds(1);

    private final DrainGate gate;
    private final Sandboxes sandboxes;
    private final Supplier<Optional<String>> poolFailure;
    private final List<Check> checks;
    private final ScheduledExecutorService workers;
    private volatile Supplier<Optional<HealthSample>> work = Optional::empty;

    private HealthChecks(
            DrainGate gate, Sandboxes sandboxes, Supplier<Optional<String>> poolFailure, List<Check> checks) {
        this.gate = gate;
        this.sandboxes = sandboxes;
        this.poolFailure = poolFailure;
        this.checks = checks;
        this.workers = Executors.newScheduledThreadPool(
                checks.size(), Thread.ofPlatform().name("health-", 1).daemon().factory());
    }

    /// Starts the checks. `poolFailure` returns the reason if no sandbox can start. It must not block.
    public static HealthChecks start(
            Db db, Sandboxes sandboxes, DrainGate gate, Supplier<Optional<String>> poolFailure) {
        var health = new HealthChecks(
                gate,
                sandboxes,
                poolFailure,
                List.of(
                        new Check("store", () -> store(db)),
                        new Check("guest_loop", () -> guestLoop(sandboxes)),
                        new Check("scheduler", HealthChecks::scheduler)));
        for (Check check : health.checks) {
            var _ = health.workers.scheduleWithFixedDelay(check::run, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }
        return health;
    }

    /// Sets the source of the figures about the queue, the runs and the store. It must not block.
    public void watch(Supplier<Optional<HealthSample>> source) {
        work = source;
    }

    /// Returns the last figures about the queue, the runs and the store. Does not block.
    Optional<HealthSample> work() {
        return work.get();
    }

    /// Returns each failing part with the reason. Does not block.
    Map<String, String> failing() {
        var failing = new TreeMap<String, String>();
        checks.forEach(check -> check.failure().ifPresent(why -> failing.put(check.part, why)));
        poolFailure.get().filter(_ -> !isPoolFull()).ifPresent(why -> failing.put("provider", why));
        if (sandboxes.diskSpace().reading().level() == DiskSpace.Level.FULL) {
            failing.put("disk", "the file system of the home is full; end sandboxes or delete files");
        }
        List<String> ended = CriticalThread.ended();
        if (!ended.isEmpty()) {
            failing.put("threads", "have ended by a failure: " + String.join(", ", ended));
        }
        if (gate.isShut()) {
            failing.put("server", "is stopping");
        }
        return failing;
    }

    /// Reports whether the pool is full. A full pool has recovered from earlier failures.
    private boolean isPoolFull() {
        var pool = sandboxes.pool();
        return pool.target() > 0 && pool.available() >= pool.target();
    }

    /// Returns the status. Below the low-water mark, it is `degraded`: sandboxes run, but the server creates no new
    /// ones.
    String status(Map<String, String> failing) {
        boolean isLow = sandboxes.diskSpace().reading().level() != DiskSpace.Level.OK;
        return failing.isEmpty() ? (isLow ? "degraded" : "healthy") : "unhealthy";
    }

    DiskSpace.Reading disk() {
        return sandboxes.diskSpace().reading();
    }

    private static Optional<String> store(Db db) {
        try {
            db.read(sql -> sql.first("select 1", row -> row.getInt(1)));
            return Optional.empty();
        } catch (SandboxException e) {
            return Optional.of(e.failure().sentence());
        }
    }

    private static Optional<String> guestLoop(Sandboxes sandboxes) {
        return sandboxes.isGuestLoopResponsive(LIMIT)
                ? Optional.empty()
                : Optional.of("the loop that reads from all sandboxes does not run; restart the server");
    }

    /// Starts a virtual thread from a platform thread, so that it is queued like a request.
    private static Optional<String> scheduler() {
        var ran = new CountDownLatch(1);
        Thread.ofVirtual().name("health-probe").start(ran::countDown);
        try {
            return ran.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    ? Optional.empty()
                    : Optional.of("virtual threads have not run for " + LIMIT.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /// Check of one part. One thread runs it; any thread may read its result. Thread-safe.
    private static final class Check {
        private final String part;
        private final Supplier<Optional<String>> probe;
        private volatile Optional<String> last = Optional.empty();
        private volatile Optional<Long> startedAt = Optional.empty();

        Check(String part, Supplier<Optional<String>> probe) {
            this.part = part;
            this.probe = probe;
        }

        void run() {
            startedAt = Optional.of(System.nanoTime());
            try {
                last = probe.get();
            } catch (RuntimeException e) {
                last = Optional.of("the check failed: " + e);
            }
            startedAt = Optional.empty();
        }

        Optional<String> failure() {
            boolean isLate = startedAt
                    .filter(since -> System.nanoTime() - since > LIMIT.toNanos())
                    .isPresent();
            return isLate ? Optional.of(part + " does not answer within " + LIMIT.toMillis() + " ms") : last;
        }
    }

    /// Stops the checks. Idempotent.
    @Override
    public void close() {
        workers.shutdownNow();
    }
}
