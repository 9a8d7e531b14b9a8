package dev.vivarium.core.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.ClockJumps;
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
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of the deadlines of reviews on every database.
abstract class ReviewDeadlinesContract {
    private static final UserId ANNA = new UserId("anna");
    private static final ReviewPolicy STANDARD = ReviewPolicy.of(Duration.ofHours(1), OnTimeout.REJECT);

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final AtomicLong elapsed = new AtomicLong();
    private final SandboxInfo sandbox = info();
    private Db db;
    private EventLog log;
    private Runs runs;
    private Reviews reviews;
    private Run run;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        openStore();
        var wanted = new NewRun(
                new NewRun.Assignment.Fresh(new NewTask("title", "", Optional.empty(), Optional.empty(), "{}", "{}")),
                new Run.Program(Run.Runtime.COMMAND, List.of("true"), Optional.empty()),
                NewSandbox.of(ANNA, sandbox.thread()),
                Optional.empty(),
                Optional.empty());
        run = runs.started(runs.named(runs.begin(sandbox, wanted, RunOrigin.NONE, false), "p1"));
    }

    private void openStore() {
        db = openDb();
        log = new EventLog(db, time::get, new EventBodyJson());
        var outbox = new Outbox(db, log, time::get);
        var signals = new RunSignals();
        runs = new Runs(db, outbox, signals, time::get, List.of());
        reviews = new Reviews(db, outbox, signals, new ClockJumps(time::get, elapsed::get), STANDARD);
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    private static NewReview question(ReviewPolicy policy) {
        return new NewReview("reason", "description", "{}", List.of(), true, policy);
    }

    private Review ask(OnTimeout action) {
        return reviews.ask(run, question(ReviewPolicy.of(Duration.ofMinutes(10), action)), Optional.empty());
    }

    private void pass(Duration duration) {
        elapsed.addAndGet(duration.toNanos());
        jump(duration);
    }

    /// Sets the clock of the host.
    private void jump(Duration duration) {
        time.updateAndGet(now -> now.plus(duration));
    }

    private Review find(Review review) {
        return reviews.require(sandbox.id(), review.id().value());
    }

    private List<String> types() {
        return log.read(sandbox.id(), Query.after(0, 100)).stream()
                .map(Event::type)
                .filter(type -> type.contains("review"))
                .toList();
    }

    @Test
    void aJumpOfTheClockMovesTheDeadline() {
        Review review = ask(OnTimeout.APPROVE);
        jump(Duration.ofHours(1));
        assertThat(find(review).status()).isEqualTo(Review.Status.PENDING);
        jump(Duration.ofHours(-2));
        pass(Duration.ofMinutes(9));
        assertThat(find(review).status()).isEqualTo(Review.Status.PENDING);
        pass(Duration.ofMinutes(1));

        assertThat(find(review).status()).isEqualTo(Review.Status.APPROVED);
    }

    @Test
    void anUnansweredReviewExpires() {
        Review review = ask(OnTimeout.REJECT);
        pass(Duration.ofMinutes(9));
        assertThat(find(review).status()).isEqualTo(Review.Status.PENDING);
        pass(Duration.ofMinutes(1));

        assertThat(find(review).status()).isEqualTo(Review.Status.EXPIRED);
        assertThat(types()).containsExactly("agent.review_requested", "sandbox.review_expired");
        assertThat(reviews.toFail()).isEmpty();
    }

    @Test
    void aReviewCanBeApprovedByTheServer() {
        Review review = ask(OnTimeout.APPROVE);
        var acted = new ArrayList<Review>();
        reviews.onTimeout(acted::add);
        pass(Duration.ofMinutes(10));

        Review approved = find(review);
        assertThat(approved.status()).isEqualTo(Review.Status.APPROVED);
        assertThat(approved.answer().orElseThrow().by()).isEqualTo(new UserId("system:reviews"));
        assertThat(log.read(sandbox.id(), Query.after(0, 100)).getLast().data()).contains("\"on_timeout\":\"approve\"");
        assertThat(acted).extracting(Review::id).containsExactly(review.id());
        reviews.expireDue();
        assertThat(acted).as("the server acts once").hasSize(1);
    }

    @Test
    void aReviewThatFailsItsRunIsReportedUntilTheRunIsStopped() {
        Review review = ask(OnTimeout.FAIL);
        pass(Duration.ofMinutes(10));
        reviews.expireDue();
        close();
        openStore();

        assertThat(reviews.toFail())
                .as("also after a restart")
                .extracting(Review::id)
                .containsExactly(review.id());
        assertThat(runs.stopReason(run.id()))
                .contains("review " + review.id() + " was not answered before its deadline");
        reviews.runStopped(review);
        assertThat(reviews.toFail()).isEmpty();
    }

    @Test
    void anEscalatedReviewStaysOpenAndCanBeAnswered() throws Exception {
        Review review = ask(OnTimeout.ESCALATE);
        pass(Duration.ofMinutes(10));
        reviews.expireDue();
        reviews.expireDue();

        assertThat(find(review).status()).isEqualTo(Review.Status.PENDING);
        assertThat(find(review).escalatedAt()).contains(time.get());
        assertThat(types()).containsExactly("agent.review_requested", "review.escalated");
        assertThat(reviews.await(sandbox.id(), review.id().value(), Duration.ofMillis(1))
                        .isPending())
                .isTrue();
        reviews.answer(review, new Review.Answer("approve", Optional.empty(), ANNA, time.get()));
        assertThat(find(review).status()).isEqualTo(Review.Status.APPROVED);
    }

    @Test
    void aReminderFollowsOnceAfterHalfOfTheTimeAlsoAfterARestart() {
        ask(OnTimeout.REJECT);
        pass(Duration.ofMinutes(4));
        reviews.remindDue();
        assertThat(types()).containsExactly("agent.review_requested");
        close();
        openStore();
        pass(Duration.ofMinutes(1));

        reviews.remindDue();
        reviews.remindDue();

        assertThat(types()).containsExactly("agent.review_requested", "review.reminder");
    }

    @Test
    void theClockJumpsOverTheReminder() {
        ask(OnTimeout.REJECT);
        pass(Duration.ofDays(1));

        reviews.remindDue();
        reviews.expireDue();

        assertThat(types()).containsExactly("agent.review_requested", "sandbox.review_expired");
    }

    @Test
    void theTaskGivesDefaultsAndAnAgentCannotWeakenThem() {
        var ofTask = ReviewPolicy.of(Duration.ofMinutes(5), OnTimeout.ESCALATE);
        Review asTask = reviews.ask(run, question(ReviewPolicy.NONE), ofTask, Optional.empty());
        assertThat(asTask.deadline()).isEqualTo(time.get().plus(Duration.ofMinutes(5)));
        assertThat(asTask.onTimeout()).isEqualTo(OnTimeout.ESCALATE);

        var wish = ReviewPolicy.of(Duration.ofMinutes(1), OnTimeout.APPROVE);
        Review weaker = reviews.ask(run, question(wish), ofTask, Optional.empty());
        assertThat(weaker.onTimeout()).isEqualTo(OnTimeout.ESCALATE);
        assertThat(weaker.deadline()).isEqualTo(time.get().plus(Duration.ofMinutes(1)));

        Review standard = reviews.ask(run, question(ReviewPolicy.NONE), Optional.empty());
        assertThat(standard.deadline()).isEqualTo(time.get().plus(Duration.ofHours(1)));
        assertThat(standard.onTimeout()).isEqualTo(OnTimeout.REJECT);
    }

    @Test
    void aReviewWithOptionsIsNeverApprovedByTheServer() {
        var approve = new ReviewPolicy(Optional.empty(), Optional.of(OnTimeout.APPROVE));
        assertThatThrownBy(() -> new NewReview("r", "d", "{}", List.of("a"), true, approve))
                .hasMessageContaining("on_timeout");
        Review review = reviews.ask(run, new NewReview("r", "d", "{}", List.of("a"), true), approve, Optional.empty());
        assertThat(review.onTimeout()).isEqualTo(OnTimeout.REJECT);
        assertThatThrownBy(() -> ReviewPolicy.of(Duration.ZERO, OnTimeout.FAIL))
                .hasMessageContaining("timeout_minutes");
        assertThatThrownBy(() -> ReviewPolicy.of(Duration.ofDays(400), OnTimeout.FAIL))
                .hasMessageContaining("timeout_minutes");
    }

    private SandboxInfo info() {
        Instant now = time.get();
        return new SandboxInfo(
                SandboxId.random(new Random(1)),
                new ThreadId("thread"),
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
