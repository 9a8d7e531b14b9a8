package dev.vivarium.server;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Retention;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.server.settings.LogConfig;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Periodic deletion of expired data: events beyond their age or size, old delivered messages, file versions before
/// the oldest event, and data of unknown sandboxes. Thread-safe.
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);

    /// Maximum interval. It is long because each run is much work for the store.
    private static final Duration MAX_INTERVAL = Duration.ofMinutes(10);

    private final EventLog log;
    private final Inbox inbox;
    private final FileHistory files;
    private final Retention retention;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;

    Maintenance(LogConfig config, EventLog log, Inbox inbox, FileHistory files, Scheduler scheduler) {
        this.log = log;
        this.inbox = inbox;
        this.files = files;
        this.retention = config.retention();
        this.clock = scheduler.clock();
        long every = Math.min(MAX_INTERVAL.toMillis(), retention.age().toMillis() / 10);
        this.jobs = scheduler.jobs().every(Duration.ofMillis(every), "maintenance", this::run);
    }

    private void run() {
        try {
            Instant before = clock.instant().minus(retention.age());
            int removed = log.prune(retention, clock) + log.forgetUnknown(before) + inbox.prune(before);
            // After the events that refer to them.
            removed += files.prune();
            if (removed > 0) {
                LOG.info("deleted {} expired events, messages and file versions", removed);
            }
        } catch (RuntimeException e) {
            LOG.warn("could not delete expired events; the next run tries again: {}", e.getMessage());
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
