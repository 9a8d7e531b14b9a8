package dev.vivarium.server.api;

import dev.vivarium.core.VitalThread;
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

/// Checks of the parts that the server cannot work without. Each runs every second on a platform thread, because it
/// must work when no virtual thread runs. A caller gets the last results at once, so that a part that does not answer
/// cannot delay it. Thread-safe.
public final class HealthChecks implements AutoCloseable {
    /// A part that does not answer for longer fails.
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private static final Duration EVERY = Duration.ofSeconds(1);

    private final DrainGate gate;
    private final Sandboxes sandboxes;
    private final Supplier<Optional<String>> poolTrouble;
    private final List<Check> checks;
    private final ScheduledExecutorService workers;

    private HealthChecks(
            DrainGate gate, Sandboxes sandboxes, Supplier<Optional<String>> poolTrouble, List<Check> checks) {
        this.gate = gate;
        this.sandboxes = sandboxes;
        this.poolTrouble = poolTrouble;
        this.checks = checks;
        this.workers = Executors.newScheduledThreadPool(
                checks.size(), Thread.ofPlatform().name("health-", 1).daemon().factory());
    }

    /// Starts the checks. `poolTrouble` returns why no sandbox can be started, if that is so, without waiting.
    public static HealthChecks start(
            Db db, Sandboxes sandboxes, DrainGate gate, Supplier<Optional<String>> poolTrouble) {
        var health = new HealthChecks(
                gate,
                sandboxes,
                poolTrouble,
                List.of(
                        new Check("store", () -> store(db)),
                        new Check("guest_loop", () -> guestLoop(sandboxes)),
                        new Check("scheduler", HealthChecks::scheduler)));
        for (Check check : health.checks) {
            var _ = health.workers.scheduleWithFixedDelay(check::run, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }
        return health;
    }

    /// Each part that fails, and why. Does not wait for any part.
    Map<String, String> failing() {
        var failing = new TreeMap<String, String>();
        checks.forEach(check -> check.failure().ifPresent(why -> failing.put(check.part, why)));
        poolTrouble.get().filter(_ -> !isPoolFull()).ifPresent(why -> failing.put("provider", why));
        if (sandboxes.diskSpace().reading().level() == DiskSpace.Level.FULL) {
            failing.put("disk", "the file system of the home is full; end sandboxes or delete files");
        }
        List<String> ended = VitalThread.ended();
        if (!ended.isEmpty()) {
            failing.put("threads", "have ended by a failure: " + String.join(", ", ended));
        }
        if (gate.isShut()) {
            failing.put("server", "is stopping");
        }
        return failing;
    }

    /// A full pool has recovered from earlier failures.
    private boolean isPoolFull() {
        var pool = sandboxes.pool();
        return pool.target() > 0 && pool.available() >= pool.target();
    }

    /// `degraded` below the low-water mark: sandboxes run, but the server creates no new ones.
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

    /// A thread that is started here waits in a queue of its own, as requests do.
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

    /// One part. Run by one worker at a time, read by all. Thread-safe.
    private static final class Check {
        private final String part;
        private final Supplier<Optional<String>> question;
        private volatile Optional<String> last = Optional.empty();
        private volatile Optional<Long> asked = Optional.empty();

        Check(String part, Supplier<Optional<String>> question) {
            this.part = part;
            this.question = question;
        }

        void run() {
            asked = Optional.of(System.nanoTime());
            try {
                last = question.get();
            } catch (RuntimeException e) {
                last = Optional.of("the check failed: " + e);
            }
            asked = Optional.empty();
        }

        Optional<String> failure() {
            boolean isLate = asked.filter(since -> System.nanoTime() - since > LIMIT.toNanos())
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
