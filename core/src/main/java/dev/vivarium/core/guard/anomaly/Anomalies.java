package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Baselines of runs and users, and events about values far from them. Thread-safe.
///
/// A durable reader compares each run that has ended with earlier runs of the same owner, runtime and agent type. A job
/// compares the counts of each minute with earlier minutes of the same user. A minute without any activity of the user
/// does not count. One figure has at most one event in [#COOLDOWN].
///
/// Several servers can share a store. Only the holder of the lease compares minutes. The others drop their counts, so
/// that a minute counts once.
public final class Anomalies implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Anomalies.class);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration COOLDOWN = Duration.ofHours(1);
    private static final Duration PRUNE_EVERY = Duration.ofHours(1);
    private static final Duration KEEP = Duration.ofDays(90);
    private static final int MAX_TYPE = 100;

    /// Counts of a longer or shorter time are dropped: the clock was set, or the host was suspended.
    private static final Duration SHORTEST = Duration.ofSeconds(30);

    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final Db db;
    private final Runs runs;
    private final Outbox outbox;
    private final DutyLease lease;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;
    private final UserActivity activity = new UserActivity();
    private final SecureRandom random = new SecureRandom();
    private volatile Instant since;

    public Anomalies(Db db, Runs runs, Outbox outbox, DutyLease lease, Scheduler scheduler) {
        this.db = db;
        this.runs = runs;
        this.outbox = outbox;
        this.lease = lease;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs();
        this.since = clock.instant();
    }

    /// Starts the reader, which the log closes, and the jobs.
    public void start(EventLog log, Audit audit) {
        audit.onRecord(activity::record);
        log.reader("anomalies", new Handler(log));
        jobs.every(MINUTE, "anomalies of users", this::minute).every(PRUNE_EVERY, "deletion of baselines", this::prune);
    }

    private void prune() {
        db.write(sql -> BaselineRows.prune(sql, clock.instant().minus(KEEP)));
    }

    /// Compares the counts of the last minute.
    void minute() {
        Instant now = clock.instant();
        Duration passed = Duration.between(since, now);
        since = now;
        var counts = activity.take();
        boolean isMinute = passed.compareTo(SHORTEST) >= 0 && passed.compareTo(LONGEST) <= 0;
        try {
            if (lease.hold() && isMinute && !counts.isEmpty()) {
                outbox.sendAll(lease.write(sql -> observe(sql, counts)));
            }
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn("The figures of a minute are lost: {}", e.getMessage());
        }
    }

    UserActivity activity() {
        return activity;
    }

    private List<Outbox.PendingEvent> observe(Sql sql, Map<UserId, Map<Metric, Integer>> counts) throws SQLException {
        var found = new ArrayList<Outbox.PendingEvent>();
        for (var user : counts.entrySet()) {
            found.addAll(observe(sql, user.getKey(), user.getValue()));
        }
        return found;
    }

    private List<Outbox.PendingEvent> observe(Sql sql, UserId user, Map<Metric, Integer> counts) throws SQLException {
        var scope = new Scope("user " + user, user, Optional.empty(), clock.instant());
        var found = new ArrayList<Outbox.PendingEvent>();
        for (Metric metric : UserActivity.METRICS) {
            observe(sql, scope, metric, counts.getOrDefault(metric, 0)).ifPresent(found::add);
        }
        return found;
    }

    /// Owner of a baseline: the runs of one kind, or the minutes of one user.
    ///
    /// @param at time of the value. Old values, which a new reader finds in the log, cause no event
    private record Scope(String name, UserId owner, Optional<Run> run, Instant at) {
        boolean isRecent(Instant now) {
            return Duration.between(at, now).compareTo(COOLDOWN) < 0;
        }
    }

    private Optional<Outbox.PendingEvent> observe(Sql sql, Scope scope, Metric metric, double value)
            throws SQLException {
        Instant now = clock.instant();
        String key = scope.owner + "\n" + scope.name;
        BaselineRows.Row row = BaselineRows.find(sql, key, metric);
        Detector.Result result = Detector.observe(metric, row.baseline(), value);
        // An earlier event in the future means that the clock was set back since.
        Duration passed = Duration.between(Instant.ofEpochMilli(row.alertedAt()), now);
        boolean isQuiet = row.alertedAt() > 0 && !passed.isNegative() && passed.compareTo(COOLDOWN) < 0;
        boolean isAlert = result.finding().isPresent() && !isQuiet && scope.isRecent(now);
        BaselineRows.store(
                sql,
                key,
                metric,
                new BaselineRows.Row(result.next(), isAlert ? now.toEpochMilli() : row.alertedAt()),
                now);
        return isAlert
                ? Optional.of(outbox.put(
                        sql,
                        new TaskLog(scope.owner),
                        event(scope, metric, result.finding().get())))
                : Optional.empty();
    }

    private NewEvent event(Scope scope, Metric metric, Detector.Finding finding) {
        var body = new AlertEvent.AnomalyDetected(
                scope.name,
                metric.text(),
                rounded(finding.value()),
                rounded(finding.usual()),
                rounded(finding.deviation()),
                finding.samples(),
                scope.run.map(Run::id),
                scope.run.map(Run::task));
        byte[] id = new byte[16];
        random.nextBytes(id);
        return new NewEvent(
                Optional.of(NewEvent.OUR_IDS + "anomaly." + HexFormat.of().formatHex(id)), body, NewEvent.OURS);
    }

    private static double rounded(double value) {
        return Math.round(value * 100) / 100.0;
    }

    private List<Outbox.PendingEvent> observe(Sql sql, Run run) throws SQLException {
        Map<Metric, Double> values = values(run);
        String type = sql.first(
                        "select agent_type from task_queue where task_id = ?",
                        row -> row.getString(1),
                        run.task().value())
                .orElse("");
        String kind = type.isEmpty() ? "" : ", agent type " + type.substring(0, Math.min(MAX_TYPE, type.length()));
        var scope = new Scope(
                "runtime " + run.program().runtime().text() + kind,
                run.owner(),
                Optional.of(run),
                run.endedAt().orElse(run.startedAt()));
        var found = new ArrayList<Outbox.PendingEvent>();
        for (var value : values.entrySet()) {
            observe(sql, scope, value.getKey(), value.getValue()).ifPresent(found::add);
        }
        return found;
    }

    /// Returns the figures of a run that has ended. If the clock was set back during the run, only its outcome
    /// counts.
    private static Map<Metric, Double> values(Run run) {
        var values = new EnumMap<Metric, Double>(Metric.class);
        values.put(Metric.ERROR_RATE, run.status() == Run.Status.FAILED ? 1.0 : 0.0);
        double seconds = Duration.between(run.startedAt(), run.endedAt().orElse(run.startedAt()))
                        .toMillis()
                / 1000.0;
        if (seconds > 0) {
            double minutes = Math.max(1, seconds / 60);
            values.put(Metric.DURATION_SECONDS, seconds);
            values.put(Metric.TOKENS_PER_MINUTE, run.spent().tokens() / minutes);
            values.put(Metric.TOOL_CALLS_PER_MINUTE, run.spent().toolCalls() / minutes);
        }
        return values;
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }

    /// Applies ended runs to the baselines, and counts new sandboxes.
    private final class Handler implements EventReader.Handler {
        private final EventLog log;

        /// Events by the event that caused them, to publish after the commit.
        private final Map<String, List<Outbox.PendingEvent>> caused = new ConcurrentHashMap<>();

        Handler(EventLog log) {
            this.log = log;
        }

        @Override
        public Set<String> types() {
            return Set.of("sandbox.started", "sandbox.run_ended");
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            if (!(log.codec().decode(event) instanceof RunEvent.Ended ended)
                    || event.task().isPresent()) {
                return;
            }
            // A run that a user stopped says nothing about the agent.
            Optional<Run> run = runs.find(sql, ended.run()).filter(known -> known.status() != Run.Status.TERMINATED);
            if (run.isPresent()) {
                caused.put(event.id(), observe(sql, run.get()));
            }
        }

        @Override
        public void committed(Event event) {
            outbox.sendAll(Optional.ofNullable(caused.remove(event.id())).orElse(List.of()));
            boolean isNow = Duration.between(event.at(), clock.instant()).compareTo(LONGEST) < 0;
            if (isNow && log.codec().decode(event) instanceof SandboxEvent.Started started) {
                activity.created(started.user());
            }
        }
    }
}
