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

/// Removes, now and then, what is kept no longer: events beyond their age or size, messages that were heard long ago,
/// versions of files before the oldest event, and what is left of sandboxes that nobody remembers. Thread-safe.
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);

    /// Seldom, because it is much work for the store; but often enough for the shortest time that may be chosen.
    private static final Duration SELDOM = Duration.ofMinutes(10);

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
        long every = Math.min(SELDOM.toMillis(), retention.age().toMillis() / 10);
        this.jobs = scheduler.jobs().every(Duration.ofMillis(every), "maintenance", this::beat);
    }

    private void beat() {
        try {
            Instant before = clock.instant().minus(retention.age());
            int removed = log.prune(retention, clock) + log.forgetUnknown(before) + inbox.prune(before);
            // After the events that told of them.
            removed += files.prune();
            if (removed > 0) {
                LOG.info("removed {} events, messages and versions of files that are kept no longer", removed);
            }
        } catch (RuntimeException e) {
            LOG.warn("old events were not removed; they will be: {}", e.getMessage());
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
