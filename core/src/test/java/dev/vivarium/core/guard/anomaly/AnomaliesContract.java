package dev.vivarium.core.guard.anomaly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.RunSignals;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.AlertJson;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Alert;
import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Contract of anomalies, alerts and health figures on every database.
@Timeout(120)
abstract class AnomaliesContract {
    private static final UserId ANN = new UserId("ann");
    private static final UserId BOB = new UserId("bob");
    private static final ThreadKey KEY = new ThreadKey(ANN, new ThreadId("t"));

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final Random random = new Random(1);
    private final SandboxId sandbox = SandboxId.random(random);
    private Scheduler scheduler;
    private Db db;
    private EventLog log;
    private Audit audit;
    private Outbox outbox;
    private Runs runs;
    private Anomalies anomalies;
    private Alerts alerts;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        scheduler = new Scheduler(time::get, () -> 0);
        db = openDb();
        log = new EventLog(db, time::get, new EventBodyJson());
        audit = new Audit(db, 1000);
        outbox = new Outbox(db, log, time::get);
        runs = new Runs(db, outbox, new RunSignals(), time::get, List.of());
        anomalies = server("a");
        alerts = new Alerts(db, AlertJson.TYPES, AlertJson::notice, scheduler);
        alerts.start(log);
        anomalies.start(log, audit);
    }

    /// Returns the anomalies of a server with this name.
    private Anomalies server(String name) {
        var lease = new DutyLease(db, "anomalies", name, Duration.ofMinutes(3), time::get);
        return new Anomalies(db, runs, outbox, lease, scheduler);
    }

    @AfterEach
    void close() {
        anomalies.close();
        alerts.close();
        log.close();
        audit.close();
        db.close();
        scheduler.close();
    }

    private void pass(Duration duration) {
        time.updateAndGet(now -> now.plus(duration));
    }

    /// Stores a run that ends now, and its event.
    private RunId run(Duration duration, Run.Status status) {
        var id = RunId.random(random);
        var task = TaskId.random(random);
        db.write(sql -> sql.update(
                "insert into sandbox_runs (run_id, sandbox_id, task_id, user_id, thread_id, runtime, command, status,"
                        + " cost_nanos, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, tool_calls,"
                        + " wish, started_at, ended_at) values (?, ?, ?, ?, 't', 'command', '', ?, 0, 100, 0, 0, 0, 1,"
                        + " 'run', ?, ?)",
                id.value(),
                sandbox.value(),
                task.value(),
                ANN.value(),
                status.text(),
                time.get().minus(duration).toEpochMilli(),
                time.get().toEpochMilli()));
        var body = new RunEvent.Ended(
                id, task, status, Optional.empty(), Optional.empty(), new RunEvent.Total(BigDecimal.ZERO, 100, 1));
        log.append(sandbox, NewEvent.of(body, NewEvent.OURS));
        return id;
    }

    private List<AlertEvent.AnomalyDetected> found(UserId user) {
        return log.read(new TaskLog(user), Query.after(0, 1000)).stream()
                .map(event -> log.codec().decode(event))
                .filter(AlertEvent.AnomalyDetected.class::isInstance)
                .map(AlertEvent.AnomalyDetected.class::cast)
                .toList();
    }

    @Test
    void aRunThatTakesMuchLongerThanOthersIsAnAnomalyAndAnAlert() {
        for (int i = 0; i < 40; i++) {
            run(Duration.ofSeconds(300 + i), Run.Status.COMPLETED);
            pass(Duration.ofMinutes(1));
        }
        RunId slow = run(Duration.ofHours(5), Run.Status.COMPLETED);

        await().until(() -> !found(ANN).isEmpty());
        AlertEvent.AnomalyDetected anomaly = found(ANN).getFirst();
        assertThat(anomaly.metric()).isEqualTo("duration_seconds");
        assertThat(anomaly.scope()).isEqualTo("runtime command");
        assertThat(anomaly.value()).isEqualTo(18_000);
        assertThat(anomaly.baseline()).isBetween(290.0, 350.0);
        assertThat(anomaly.samples()).isEqualTo(40);
        assertThat(anomaly.run()).contains(slow);

        await().until(() -> !list(Optional.of(ANN)).isEmpty());
        Alert alert = list(Optional.of(ANN)).getFirst();
        assertThat(alert.notice().title()).isEqualTo("Unusual duration seconds");
        assertThat(alert.notice().detail()).contains("runtime command: 18000, usually 3");
        assertThat(alert.notice().run()).contains(slow.value());
        assertThat(list(Optional.of(BOB))).isEmpty();

        run(Duration.ofHours(5), Run.Status.COMPLETED);
        for (int i = 0; i < 20; i++) {
            run(Duration.ofSeconds(300), Run.Status.FAILED);
        }
        await().until(() -> found(ANN).stream().anyMatch(one -> one.metric().equals("error_rate")));
        assertThat(found(ANN))
                .as("one event for each figure in an hour")
                .extracting(AlertEvent.AnomalyDetected::metric)
                .containsExactly("duration_seconds", "error_rate");
    }

    private List<Alert> list(Optional<UserId> user) {
        return alerts.list(new AlertFilter(user, Optional.empty(), Optional.empty(), 100));
    }

    private void minute() {
        pass(Duration.ofMinutes(1));
        anomalies.minute();
    }

    private void request(int status) {
        audit.record(request(ANN, status));
    }

    private AuditEntry request(UserId user, int status) {
        return AuditEntry.of(time.get(), AuditEntry.Kind.USED, status, "POST /x")
                .by(new Principal.User(user));
    }

    @Test
    void aBurstOfCreationsFailuresAndRefusalsOfAUserIsAnAnomaly() {
        for (int i = 0; i < 40; i++) {
            request(200);
            minute();
        }
        for (int i = 0; i < 50; i++) {
            anomalies.activity().created(ANN);
            request(422);
            request(429);
            request(403);
            audit.record(AuditEntry.of(time.get(), AuditEntry.Kind.EGRESS, 403, "egress CONNECT")
                    .byProgramOf(sandbox)
                    .on(sandbox, KEY));
        }
        minute();

        assertThat(found(ANN))
                .extracting(AlertEvent.AnomalyDetected::metric)
                .containsExactlyInAnyOrder(
                        "creations_per_minute",
                        "validation_failures_per_minute",
                        "limit_violations_per_minute",
                        "refused_tokens_per_minute",
                        "refused_egress_per_minute");
        assertThat(found(ANN)).allMatch(one -> one.value() == 50 && one.scope().equals("user ann"));
    }

    @Test
    void oneOfTwoServersOnAStoreComparesMinutesUntilItsLeaseLapses() {
        try (var other = server("b")) {
            for (int i = 0; i < 41; i++) {
                for (int n = 0; n < (i < 40 ? 1 : 50); n++) {
                    anomalies.activity().created(ANN);
                    other.activity().created(ANN);
                }
                minute();
                other.minute();
            }
            assertThat(found(ANN)).singleElement().satisfies(one -> {
                assertThat(one.metric()).isEqualTo("creations_per_minute");
                assertThat(one.value()).isEqualTo(50);
                assertThat(one.samples()).as("a minute counts once").isEqualTo(40);
            });

            pass(Duration.ofMinutes(3));
            other.minute();
            for (int n = 0; n < 50; n++) {
                other.activity().record(request(ANN, 422));
            }
            pass(Duration.ofMinutes(1));
            other.minute();
            assertThat(found(ANN))
                    .extracting(AlertEvent.AnomalyDetected::metric)
                    .containsExactly("creations_per_minute", "validation_failures_per_minute");
        }
    }

    @Test
    void aMinuteOfAnotherLengthDoesNotCount() {
        for (int i = 0; i < 40; i++) {
            request(200);
            minute();
        }
        for (int i = 0; i < 50; i++) {
            request(422);
        }
        pass(Duration.ofDays(1));
        anomalies.minute();
        for (int i = 0; i < 50; i++) {
            request(422);
        }
        pass(Duration.ofDays(-2));
        anomalies.minute();

        assertThat(found(ANN)).isEmpty();
    }

    @Test
    void alertsHavePagesSeveritiesAndAnAcknowledgement() {
        for (int i = 0; i < 5; i++) {
            log.append(
                    new TaskLog(ANN), NewEvent.of("workflow.stuck", "{\"reason\":\"no runtime " + i + "\"}", "system"));
        }
        log.append(new TaskLog(BOB), NewEvent.of("conductor.report", "{\"overlaps\":[]}", "system"));
        log.append(
                new TaskLog(BOB),
                NewEvent.of(
                        "conductor.report",
                        "{\"overlaps\":[{\"kind\":\"duplicate\"}],\"summary\":\"twice\"}",
                        "system"));
        await().until(() -> list(Optional.empty()).size() == 6);

        List<Alert> first = alerts.list(new AlertFilter(Optional.of(ANN), Optional.of(0L), Optional.empty(), 2));
        assertThat(first).extracting(alert -> alert.notice().detail()).containsExactly("no runtime 0", "no runtime 1");
        assertThat(alerts.list(new AlertFilter(
                        Optional.of(ANN), Optional.of(first.getLast().number()), Optional.empty(), 10)))
                .hasSize(3);
        assertThat(alerts.list(
                        new AlertFilter(Optional.empty(), Optional.empty(), Optional.of(Alert.Severity.WARNING), 10)))
                .singleElement()
                .satisfies(alert -> assertThat(alert.owner()).isEqualTo(BOB));

        Alert alert = alerts.acknowledge(first.getFirst().id(), ANN, ANN::equals);
        assertThat(alert.acknowledged().orElseThrow().by()).isEqualTo(ANN);
        assertThat(alerts.acknowledge(first.getFirst().id(), BOB, _ -> true)
                        .acknowledged()
                        .orElseThrow()
                        .by())
                .isEqualTo(ANN);
        assertThatThrownBy(() -> alerts.acknowledge(first.getFirst().id(), BOB, BOB::equals))
                .hasMessageContaining("there is no alert");
        assertThatThrownBy(() -> alerts.acknowledge("nonsense", BOB, _ -> true))
                .hasMessageContaining("there is no alert");
    }

    @Test
    void anAgentCannotRaiseAnAlert() {
        var forged = NewEvent.of("guardian.stopped", "{\"reason\":\"forged\"}", "agent")
                .from(TaskId.random(random));
        log.append(new TaskLog(ANN), forged);
        log.append(new TaskLog(ANN), NewEvent.of("workflow.stuck", "{\"reason\":\"real\"}", "system"));

        await().until(() -> !list(Optional.of(ANN)).isEmpty());
        assertThat(list(Optional.of(ANN)))
                .singleElement()
                .satisfies(alert -> assertThat(alert.notice().detail()).isEqualTo("real"));
    }

    @Test
    void healthHasTheQueueTheFailuresAndTheStore() {
        run(Duration.ofSeconds(10), Run.Status.COMPLETED);
        run(Duration.ofSeconds(10), Run.Status.FAILED);
        run(Duration.ofSeconds(10), Run.Status.FAILED);
        run(Duration.ofSeconds(10), Run.Status.TERMINATED);
        try (var sampler = new HealthSampler(db, Duration.ofSeconds(30), scheduler)) {
            HealthSample sample = sampler.measure();

            assertThat(sample.runsEnded()).isEqualTo(3);
            assertThat(sample.failureRate()).isBetween(0.66, 0.67);
            assertThat(sample.queueDepth()).isZero();
            assertThat(sample.oldestReady()).isEmpty();
            pass(Duration.ofHours(2));
            assertThat(sampler.measure().failureRate()).isZero();
        }
    }
}
