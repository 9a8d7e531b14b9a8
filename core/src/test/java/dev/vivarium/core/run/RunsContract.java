package dev.vivarium.core.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.ReviewPolicy.OnTimeout;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WorkerEvent;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Contract of runs, tasks and reviews on every database.
abstract class RunsContract {
    private static final UserId ANNA = new UserId("anna");

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final InstantSource clock = time::get;
    private final SandboxInfo sandbox = info(1);
    private Db db;
    private EventLog log;
    private final RunSignals signals = new RunSignals();
    private Outbox outbox;
    private Runs runs;
    private Tasks tasks;
    private Reviews reviews;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, clock, new EventBodyJson());
        outbox = new Outbox(db, log, clock);
        runs = new Runs(db, outbox, signals, clock, List.of());
        tasks = new Tasks(db, clock);
        var steady = new ClockJumps(clock, () -> clock.millis() * 1_000_000);
        reviews = new Reviews(db, outbox, signals, steady, ReviewPolicy.of(Duration.ofHours(1), OnTimeout.REJECT));
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    @Test
    void runAndItsTaskAreStoredFromStartToEnd() {
        Run run = begin(Optional.of("0.5"));
        assertThat(run.status()).isEqualTo(Run.Status.CREATING);
        assertThat(started(run).status()).isEqualTo(Run.Status.RUNNING);
        report(run, new WorkerEvent.ToolUsed());
        report(run, new WorkerEvent.ConversationNamed("session"));
        report(run, new WorkerEvent.Completed("well"));
        runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED);
        runs.end(run, Run.Status.FAILED, Optional.of("too late"), ReasonCode.CRASHED);

        Run ended = runs.find(sandbox.id()).orElseThrow();
        assertThat(ended.status()).isEqualTo(Run.Status.COMPLETED);
        assertThat(ended.reason()).isEmpty();
        assertThat(ended.session()).contains("session");
        assertThat(ended.spent().toolCalls()).isEqualTo(1);
        assertThat(ended.program().command()).containsExactly("sh", "-c", "echo 'a b'");
        assertThat(runs.verdict(run)).contains(RunOutcome.completed("well"));
        assertThat(tasks.find(run.task()).orElseThrow().status()).isEqualTo(Task.Status.COMPLETED);
        assertThat(types()).containsExactly("sandbox.run_started", "sandbox.run_ended");
        assertThat(log.newest(sandbox.id(), "sandbox.run_ended", 1).getFirst().data())
                .as("cost_usd is a number")
                .contains("\"cost_usd\":0");
    }

    @Test
    void sandboxHasOneActiveRunAndATaskOneWorker() {
        Run run = begin(Optional.empty());
        assertThatThrownBy(() -> begin(Optional.empty())).hasMessageContaining("has an agent at work");
        var again = new NewRun(
                new NewRun.Assignment.Known(run.task()),
                run.program(),
                NewSandbox.of(ANNA, new ThreadId("other")),
                Optional.empty(),
                Optional.empty());
        assertThatThrownBy(() -> runs.begin(info(2), again, RunOrigin.NONE, false))
                .hasMessageContaining("another run works on task");

        runs.end(run, Run.Status.FAILED, Optional.of("why"), ReasonCode.CRASHED);

        assertThat(runs.begin(info(2), again, RunOrigin.NONE, false).task()).isEqualTo(run.task());
        assertThat(begin(Optional.empty()).isActive()).isTrue();
    }

    @Test
    void modelCostIsAddedExactlyAndABudgetStopsTheRun() {
        var stopped = new ArrayList<Run>();
        var alsoCalled = new ArrayList<Run>();
        runs.addListener(onOverspent(stopped::add));
        runs.addListener(onOverspent(alsoCalled::add));
        Run run = started(begin(Optional.of("0.001")));

        assertThat(runs.charge(sandbox.id(), run.task(), usage("0.0000003")).isSpent())
                .isFalse();
        assertThat(runs.allowance(sandbox.id(), run.task()).spentUsd()).isEqualByComparingTo("0.0000003");
        assertThat(stopped).isEmpty();
        assertThat(runs.charge(sandbox.id(), run.task(), usage("0.001")).isSpent())
                .isTrue();

        assertThat(stopped).extracting(Run::sandbox).containsExactly(sandbox.id());
        assertThat(alsoCalled).isEqualTo(stopped);
        assertThat(runs.find(sandbox.id()).orElseThrow().spent().tokens()).isEqualTo(220);
        runs.end(stopped.getFirst(), Run.Status.FAILED, Optional.of("budget"), ReasonCode.CRASHED);
        assertThatThrownBy(() -> runs.allowance(sandbox.id(), run.task())).hasMessageContaining("has ended");
    }

    @Test
    void throwingListenerDoesNotPreventTokenRevocation(@TempDir Path home) {
        var tokens = WorkerTokens.open(db, home, clock);
        var calls = new ArrayList<String>();
        var isBroken = new AtomicBoolean(true);
        runs = new Runs(
                db,
                outbox,
                signals,
                clock,
                List.of(
                        _ -> calls.add("first"),
                        _ -> {
                            if (isBroken.get()) {
                                throw new IllegalStateException("a bug in a listener");
                            }
                        },
                        run -> tokens.forget(run.sandbox()),
                        _ -> calls.add("last")));
        Run run = started(begin(Optional.empty()));
        String token =
                tokens.issue(new Work(sandbox.id(), sandbox.thread(), ANNA, run.task()), WorkerGrant.Audience.WORKER);

        assertThatThrownBy(() -> runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED))
                .hasMessageContaining("a bug in a listener");
        assertThat(tokens.find(token)).isEmpty();
        assertThat(calls).containsExactly("first", "last");
        assertThat(runs.isAtWork(sandbox.id()))
                .as("run is active until every listener succeeds")
                .isTrue();

        isBroken.set(false);
        runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED);
        assertThat(runs.isAtWork(sandbox.id())).isFalse();
    }

    @Test
    void firstExceptionOfAListenerSuppressesLaterOnes() {
        runs = new Runs(db, outbox, signals, clock, List.of(throwing("first"), throwing("second"), throwing("third")));
        Run run = started(begin(Optional.empty()));

        assertThatThrownBy(() -> runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED))
                .hasMessage("first")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("second", "third"));
    }

    @Test
    void reportBeyondTheBudgetStoresAnAbort() {
        Run run = started(begin(Optional.of("1")));
        report(run, new WorkerEvent.UsageReported(10, 5, new BigDecimal("0.5")));
        assertThat(runs.desired(run).desiredState()).isEqualTo(DesiredState.RUN);

        report(run, new WorkerEvent.UsageReported(10, 5, new BigDecimal("1")));

        assertThat(runs.desired(run))
                .isEqualTo(new RunRows.Desired(DesiredState.ABORT, Optional.of("budget"), Optional.empty()));
    }

    private void report(Run run, WorkerEvent report) {
        db.write(sql -> {
            runs.apply(sql, run.sandbox(), run.task(), report);
            return run;
        });
    }

    @Test
    void abortIsFinalAndKeepsItsFirstReason() {
        Run run = begin(Optional.empty());
        runs.desiredState(run, DesiredState.ABORT, Optional.of("budget"));
        runs.desiredState(run, DesiredState.RUN, Optional.of("changed my mind"));

        assertThat(runs.heartbeat(sandbox.id(), run.task(), "{\"memory_mb\":5}"))
                .isEqualTo(new Runs.Request(DesiredState.ABORT, Optional.of("budget"), Optional.of("budget")));
        assertThat(runs.desired(run).reason()).contains("budget");
        assertThat(runs.find(sandbox.id()).orElseThrow().heartbeat())
                .contains(new Run.Heartbeat(time.get(), "{\"memory_mb\":5}"));
    }

    @Test
    void reviewPausesItsRunUntilAnsweredOrExpired() {
        Run run = started(begin(Optional.empty()));
        Review first = reviews.ask(run, question(), Optional.of("key"));
        assertThat(reviews.ask(run, question(), Optional.of("key")).id()).isEqualTo(first.id());
        assertThat(runs.find(sandbox.id()).orElseThrow().status()).isEqualTo(Run.Status.PAUSED);

        reviews.answer(first, new Review.Answer("b", Optional.empty(), ANNA, time.get()));
        assertThat(runs.find(sandbox.id()).orElseThrow().status()).isEqualTo(Run.Status.RUNNING);

        Review second = reviews.ask(run, question(), Optional.empty());
        time.updateAndGet(now -> now.plus(Duration.ofHours(1)));
        assertThat(reviews.require(sandbox.id(), second.id().value()).status()).isEqualTo(Review.Status.EXPIRED);
        assertThat(runs.find(sandbox.id()).orElseThrow().status()).isEqualTo(Run.Status.RUNNING);
        assertThatThrownBy(() -> reviews.answer(second, new Review.Answer("a", Optional.empty(), ANNA, time.get())))
                .hasMessageContaining("is expired and cannot be answered");
        assertThat(types())
                .containsExactly(
                        "sandbox.run_started",
                        "agent.review_requested",
                        "user.approve",
                        "agent.review_requested",
                        "sandbox.review_expired");
    }

    @Test
    void lateReportsDoNotChangeTheNextRun() {
        Run old = started(begin(Optional.empty()));
        runs.end(old, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED);
        time.updateAndGet(now -> now.plusMillis(1));
        Run next = started(begin(Optional.of("1")));

        report(old, new WorkerEvent.ToolUsed());
        report(old, new WorkerEvent.ConversationNamed("old"));
        report(old, new WorkerEvent.Failed("old", Optional.empty(), Optional.empty()));
        report(old, new WorkerEvent.UsageReported(10, 5, new BigDecimal("5")));
        assertThatThrownBy(() -> runs.heartbeat(sandbox.id(), old.task(), "{}")).hasMessageContaining("has ended");
        assertThatThrownBy(() -> runs.requireActive(sandbox.id(), old.task())).hasMessageContaining("has ended");

        runs.charge(sandbox.id(), old.task(), usage("5"));

        assertThat(runs.find(sandbox.id())).contains(next);
        assertThat(runs.list(new RunFilter(
                                Optional.empty(),
                                Optional.empty(),
                                Optional.of(old.task()),
                                Optional.empty(),
                                Optional.empty(),
                                1))
                        .getFirst()
                        .spent()
                        .costUsd())
                .isEqualByComparingTo("5");
        assertThat(runs.verdict(next)).isEmpty();
        assertThat(runs.isAnothers(sandbox.id(), old.task())).isTrue();
        assertThat(runs.isAnothers(sandbox.id(), next.task())).isFalse();
    }

    @Test
    void taskOfAnEndedRunCannotChange() {
        Run run = started(begin(Optional.empty()));
        tasks.reported(sandbox.id(), run.task(), Task.Report.COMPLETED, Optional.empty());
        tasks.result(sandbox.id(), run.task(), "{}");
        runs.end(run, Run.Status.FAILED, Optional.of("it crashed"), ReasonCode.CRASHED);

        assertThatThrownBy(() ->
                        tasks.reported(sandbox.id(), run.task(), Task.Report.IN_PROGRESS, Optional.of("back again")))
                .hasMessageContaining("is failed");
        assertThatThrownBy(() -> tasks.result(sandbox.id(), run.task(), "{\"late\":true}"))
                .hasMessageContaining("has ended");
        Task task = tasks.find(run.task()).orElseThrow();
        assertThat(task.status()).isEqualTo(Task.Status.FAILED);
        assertThat(task.reported()).contains(Task.Report.COMPLETED);
        assertThat(task.message()).contains("it crashed");
        assertThat(task.result()).contains("{}");
    }

    @Test
    void heldRunStaysPausedAfterAReview() {
        Run run = started(begin(Optional.empty()));
        runs.hold(sandbox.id());
        Review review = reviews.ask(run, question(), Optional.empty());
        reviews.answer(review, new Review.Answer("a", Optional.empty(), ANNA, time.get()));
        assertThat(runs.find(sandbox.id()).orElseThrow().reason()).contains("paused by request");
        assertThat(runs.heartbeat(sandbox.id(), run.task(), "{}").state()).isEqualTo(DesiredState.PAUSE);

        runs.resumeAgent(sandbox.id());

        assertThat(runs.heartbeat(sandbox.id(), run.task(), "{}").state()).isEqualTo(DesiredState.RUN);
        assertThat(runs.find(sandbox.id()).orElseThrow().status()).isEqualTo(Run.Status.RUNNING);
    }

    @Test
    void releasedRunStillWaitsForItsReview() {
        Run run = started(begin(Optional.empty()));
        reviews.ask(run, question(), Optional.empty());
        runs.hold(sandbox.id());
        runs.resumeAgent(sandbox.id());

        assertThat(runs.find(sandbox.id()).orElseThrow().status()).isEqualTo(Run.Status.PAUSED);
        assertThat(runs.find(sandbox.id()).orElseThrow().reason().orElseThrow()).contains("waits for the answer");
    }

    @Test
    void nextServerPublishesPendingEventsOnce() {
        Run run = started(begin(Optional.empty()));
        Review answered = reviews.ask(run, question(), Optional.empty());
        // From here on the rows are written and the log is closed, as if the server were killed between the two writes.
        log.close();
        reviews.answer(answered, new Review.Answer("reject", Optional.empty(), ANNA, time.get()));
        reviews.ask(run, question(), Optional.empty());
        time.updateAndGet(now -> now.plus(Duration.ofHours(1)));
        reviews.expireDue();
        runs.end(run, Run.Status.FAILED, Optional.of("why"), ReasonCode.CRASHED);

        close();
        open();

        assertThat(types())
                .containsExactly(
                        "sandbox.run_started",
                        "agent.review_requested",
                        "user.reject",
                        "agent.review_requested",
                        "sandbox.review_expired",
                        "sandbox.run_ended");
        close();
        open();
        assertThat(types()).as("events are published once").hasSize(6);
    }

    @Test
    void eventsArePublishedWhenTheLogWorksAgain() {
        Run run = started(begin(Optional.empty()));
        rename("sandbox_events", "away");
        runs.end(run, Run.Status.FAILED, Optional.of("why"), ReasonCode.CRASHED);
        runs.sendPending();
        rename("away", "sandbox_events");
        assertThat(runs.find(sandbox.id()).orElseThrow().isActive()).isFalse();

        runs.sendPending();

        assertThat(types()).containsExactly("sandbox.run_started", "sandbox.run_ended");
    }

    private void rename(String table, String name) {
        int _ = db.write(sql -> sql.update("alter table " + table + " rename to " + name));
    }

    @Test
    void startAfterTheEndPublishesNoEvent() {
        Run run = begin(Optional.empty());
        runs.end(run, Run.Status.FAILED, Optional.of("why"), ReasonCode.CRASHED);

        assertThat(started(run).isActive()).isFalse();

        assertThat(types()).containsExactly("sandbox.run_ended");
    }

    private Run begin(Optional<String> budget) {
        var wanted = new NewRun(
                new NewRun.Assignment.Fresh(new NewTask("title", "", Optional.empty(), Optional.empty(), "{}", "{}")),
                new Run.Program(Run.Runtime.COMMAND, List.of("sh", "-c", "echo 'a b'"), Optional.empty()),
                NewSandbox.of(ANNA, sandbox.thread()),
                budget.map(BigDecimal::new),
                Optional.empty());
        return runs.begin(sandbox, wanted, RunOrigin.NONE, false);
    }

    private Run started(Run run) {
        return runs.started(runs.named(run, "p1"));
    }

    private List<String> types() {
        return log.read(sandbox.id(), Query.after(0, 100)).stream()
                .map(Event::type)
                .toList();
    }

    private static NewReview question() {
        return new NewReview("reason", "description", "{\"options\":[\"a\",\"b\"]}", List.of("a", "b"), true);
    }

    private static RunListener throwing(String message) {
        return _ -> {
            throw new IllegalStateException(message);
        };
    }

    private static RunListener onOverspent(Consumer<Run> action) {
        return new RunListener() {
            @Override
            public void ending(Run run) {}

            @Override
            public void overspent(Run run) {
                action.accept(run);
            }
        };
    }

    private static Usage usage(String cost) {
        return new Usage("model", 100, 10, 0, 0, new BigDecimal(cost));
    }

    private SandboxInfo info(int seed) {
        Instant now = clock.instant();
        return new SandboxInfo(
                SandboxId.random(new Random(seed)),
                new ThreadId("thread" + seed),
                ANNA,
                Status.RUNNING,
                Limits.STANDARD,
                now,
                now,
                now,
                now,
                OnIdle.END,
                Optional.empty(),
                Optional.empty());
    }
}
