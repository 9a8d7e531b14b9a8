package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Periodic measurement of the queue, the runs and the store. Thread-safe.
///
/// Callers get the last measurement at once. If the store fails, the measurement keeps its old time.
public final class HealthSampler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthSampler.class);
    private static final Duration WINDOW = Duration.ofHours(1);
    private static final Duration FIRST = Duration.ofSeconds(1);

    private final Db db;
    private final InstantSource clock;
    private final Scheduler scheduler;
    private final Scheduler.Jobs jobs;
    private volatile Optional<HealthSample> last = Optional.empty();

    public HealthSampler(Db db, Duration every, Scheduler scheduler) {
        this.db = db;
        this.clock = scheduler.clock();
        this.scheduler = scheduler;
        this.jobs = scheduler.jobs().every(FIRST, every, "health of the queue", this::sample);
    }

    /// Returns the last measurement. Empty in the first second of the server. Does not block.
    public Optional<HealthSample> last() {
        return last;
    }

    private void sample() {
        try {
            last = Optional.of(measure());
        } catch (SandboxException e) {
            LOG.warn("The health of the queue is measured later: {}", e.getMessage());
        }
    }

    HealthSample measure() {
        Instant now = clock.instant();
        long before = scheduler.nanos();
        // A write waits for the other writes, as every change does.
        db.write(sql -> sql.number("select 1"));
        Duration latency = Duration.ofNanos(scheduler.nanos() - before);
        return db.read(sql -> measure(sql, now, latency));
    }

    private static HealthSample measure(Sql sql, Instant now, Duration latency) throws SQLException {
        String ended = "select count(*) from sandbox_runs where ended_at > ? and status ";
        long since = now.minus(WINDOW).toEpochMilli();
        long failed = sql.number(ended + "= 'failed'", since);
        long all = failed + sql.number(ended + "= 'completed'", since);
        long oldest = sql.number("select min(ready_at) from task_queue where order_at is not null");
        Duration waited = Duration.ofMillis(Math.max(0, now.toEpochMilli() - oldest));
        return new HealthSample(
                now,
                sql.number("select count(*) from task_queue where order_at is not null"),
                oldest == 0 ? Optional.empty() : Optional.of(waited),
                all,
                all == 0 ? 0 : (double) failed / all,
                latency);
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
