package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Alert;
import dev.vivarium.model.Event;
import dev.vivarium.model.NotificationFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/// Alerts: a list of the events of all logs that may need a person. Thread-safe.
///
/// A durable reader stores one alert for each such event, in the transaction of its cursor. Events that workers send do
/// not count, so that an agent cannot raise an alert in the name of the server.
public final class Alerts implements AutoCloseable {
    private static final Duration KEEP = Duration.ofDays(90);
    private static final Duration PRUNE_EVERY = Duration.ofHours(1);

    private final Db db;
    private final Set<String> types;
    private final Function<Event, Optional<Alert.Notice>> reading;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;

    /// @param types   types of the events that may be alerts
    /// @param reading returns the content of the alert for an event, if it is one
    public Alerts(Db db, Set<String> types, Function<Event, Optional<Alert.Notice>> reading, Scheduler scheduler) {
        this.db = db;
        this.types = Set.copyOf(types);
        this.reading = reading;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs().every(PRUNE_EVERY, "deletion of alerts", this::prune);
    }

    /// Starts the reader, which the log closes.
    public void start(EventLog log) {
        log.reader("alerts", new Handler());
    }

    private void prune() {
        db.write(sql -> AlertRows.prune(sql, clock.instant().minus(KEEP)));
    }

    public List<Alert> list(AlertFilter filter) {
        return db.read(sql -> AlertRows.list(sql, filter));
    }

    /// Marks an alert as seen. The first acknowledgement counts. Fails with `no-such-alert`.
    public Alert acknowledge(String id, UserId by, Predicate<UserId> mine) {
        long number = Alert.numberOf(id)
                .flatMap(text -> db.read(sql -> AlertRows.find(sql, text)))
                .filter(alert -> mine.test(alert.owner()))
                .map(Alert::number)
                .orElseThrow(() -> unknown(id));
        return db.write(sql -> {
                    AlertRows.acknowledge(sql, number, new Alert.Acknowledgement(by, clock.instant()));
                    return AlertRows.find(sql, number);
                })
                .orElseThrow(() -> unknown(id));
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= 64 ? id : id.substring(0, 64) + "…";
        return new SandboxException(new NotificationFailure.NoSuchAlert(shown));
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }

    private final class Handler implements EventReader.Handler {
        @Override
        public Set<String> types() {
            return types;
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            Optional<Alert.Notice> notice = event.task().isPresent() ? Optional.empty() : reading.apply(event);
            Optional<UserId> owner = AlertRows.owner(sql, event.logId());
            if (notice.isPresent() && owner.isPresent()) {
                AlertRows.insert(
                        sql,
                        new Alert(
                                0,
                                owner.get(),
                                event.at(),
                                notice.get(),
                                event.logId(),
                                event.seq(),
                                Optional.empty()));
            }
        }
    }
}
