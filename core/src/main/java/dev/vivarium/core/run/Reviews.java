package dev.vivarium.core.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.Digests;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.store.SqlFunction;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewEvent;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/// Reviews that agents request from people. A blocking review pauses the run until a person answers or the deadline
/// passes. Thread-safe.
public final class Reviews {
    private static final int MAX_PENDING = 100;

    /// Name of the server in answers that it gives itself.
    private static final UserId SYSTEM = new UserId("system:reviews");

    private final Db db;
    private final Outbox outbox;
    private final RunSignals signals;
    private final ClockJumps clock;
    private final ReviewPolicy standard;
    private final SecureRandom random = new SecureRandom();
    private volatile Consumer<Review> timeouts = _ -> {};

    /// @param standard policy with all values, for reviews without own values
    public Reviews(Db db, Outbox outbox, RunSignals signals, ClockJumps clock, ReviewPolicy standard) {
        this.db = db;
        this.outbox = outbox;
        this.signals = signals;
        this.clock = clock;
        this.standard = standard;
    }

    /// Calls `listener` after the server has acted on the deadline of a review.
    public void onTimeout(Consumer<Review> listener) {
        timeouts = listener;
    }

    /// Requests a review for the agent of a run. Requests with the same `key` are one review.
    public Review ask(Run run, NewReview question, Optional<String> key) {
        return ask(run, question, ReviewPolicy.NONE, key);
    }

    /// Like [#ask(Run, NewReview, Optional)], with the policy of the task for values that the question does not
    /// have.
    public Review ask(Run run, NewReview given, ReviewPolicy ofTask, Optional<String> key) {
        NewReview question = given.limitedBy(ofTask).withDefaults(ofTask).withDefaults(standard);
        var review = new Review(
                key.map(text -> named(run.sandbox() + " " + text)).orElseGet(() -> ReviewId.random(random)),
                run.sandbox(),
                run.task(),
                question,
                Review.Status.PENDING,
                Optional.empty(),
                now(),
                now().plus(question.policy().timeout().orElseThrow()),
                Optional.empty());
        outbox.send(db.write(sql -> {
            if (ReviewRows.pending(sql, run.sandbox()) >= MAX_PENDING) {
                throw new SandboxException(new RunFailure.TooManyReviews(MAX_PENDING));
            }
            ReviewRows.insert(sql, review);
            RunRows.settle(sql, run.sandbox());
            return outbox.put(sql, run.sandbox(), requested(review));
        }));
        signals.signal(run.sandbox());
        return db.read(sql -> ReviewRows.find(sql, run.sandbox(), review.id())).orElse(review);
    }

    private static NewEvent requested(Review review) {
        NewReview question = review.asked();
        var body = new ReviewEvent.Requested(
                review.id(),
                review.task(),
                question.reason(),
                question.description(),
                question.context(),
                question.blocking(),
                review.deadline());
        // The worker reports the request too, with the same id.
        return new NewEvent(Optional.of(review.id() + ".requested"), body, "agent");
    }

    /// Reports whether a review of a sandbox is pending.
    public boolean isAwaited(SandboxId sandbox) {
        expireDue();
        return db.read(sql -> ReviewRows.pending(sql, sandbox)) > 0;
    }

    /// Returns the review with an id from a request. Fails with `no-such-review`.
    public Review require(SandboxId sandbox, String id) {
        expireDue();
        return Optional.of(id)
                .filter(ReviewId::isWellFormed)
                .flatMap(text -> db.read(sql -> ReviewRows.find(sql, sandbox, new ReviewId(text))))
                .orElseThrow(() -> unknown(id));
    }

    /// Returns the review as soon as it is not pending, or at the timeout.
    public Review await(SandboxId sandbox, String id, Duration longest) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        MessageSignal messageSignal = signals.of(sandbox);
        while (true) {
            long seen = messageSignal.count();
            Review review = require(sandbox, id);
            long deadline = System.nanoTime()
                    + Duration.between(now(), review.deadline()).plusMillis(1).toNanos();
            boolean hasDeadline = review.escalatedAt().isEmpty();
            long until = end - deadline < 0 || !hasDeadline ? end : deadline;
            boolean isOver = !review.isPending() || System.nanoTime() - end >= 0;
            if (isOver) {
                return review;
            }
            boolean _ = messageSignal.await(seen, until);
        }
    }

    /// Returns the newest reviews of a sandbox.
    public List<Review> list(SandboxId sandbox, int limit) {
        expireDue();
        return db.read(sql -> ReviewRows.list(sql, sandbox, limit));
    }

    /// Returns the newest reviews with a status, of all sandboxes or of those that a user owns or is a member of.
    public List<ReviewEntry> list(Optional<Review.Status> status, Optional<UserId> user, int limit) {
        expireDue();
        return db.read(sql -> ReviewRows.listAll(sql, status, user, limit));
    }

    public Map<SandboxId, Integer> pending() {
        expireDue();
        return db.read(ReviewRows::pending);
    }

    /// Answers a review: `approve`, `reject` or one of its options. Fails with `review-answered` if the review is
    /// not pending.
    public Review answer(Review review, Review.Answer answer) {
        Review.Status status = status(review, answer.decision());
        Optional<Outbox.PendingEvent> pending = db.write(sql -> {
            boolean isFirst = ReviewRows.answer(sql, review.id(), status, answer);
            RunRows.settle(sql, review.sandbox());
            return isFirst
                    ? Optional.of(outbox.put(sql, review.sandbox(), answered(review, answer)))
                    : Optional.empty();
        });
        pending.ifPresent(stored -> {
            signals.signal(review.sandbox());
            outbox.send(stored);
        });
        Review now = require(review.sandbox(), review.id().value());
        if (pending.isEmpty()) {
            throw new SandboxException(new RunFailure.ReviewAnswered(review.id(), now.status()));
        }
        return now;
    }

    private static NewEvent answered(Review review, Review.Answer answer) {
        var body = new ReviewEvent.Answered(review.id(), answer.decision(), answer.comment(), answer.by());
        return new NewEvent(Optional.of(NewEvent.OUR_IDS + review.id() + ".answered"), body, "user");
    }

    /// If the agent offers options, `approve` has no meaning.
    private static Review.Status status(Review review, String decision) {
        List<String> options = review.asked().options();
        if (options.contains(decision)) {
            return Review.Status.ANSWERED;
        }
        if (decision.equals("reject")) {
            return Review.Status.REJECTED;
        }
        if (decision.equals("approve") && options.isEmpty()) {
            return Review.Status.APPROVED;
        }
        throw SandboxException.invalid(
                "decision",
                options.isEmpty()
                        ? "must be approve or reject"
                        : "must be one of " + String.join(", ", options) + ", or reject");
    }

    /// Acts on the reviews whose deadline has passed, by their policy.
    void expireDue() {
        clock.apply(jump -> db.write(sql -> ReviewRows.move(sql, jump)));
        for (Review review : db.read(sql -> ReviewRows.due(sql, now()))) {
            change(review, sql -> timedOut(sql, review), timedOutEvent(review)).ifPresent(timeouts);
        }
    }

    private boolean timedOut(Sql sql, Review review) throws SQLException {
        return switch (review.onTimeout()) {
            case REJECT -> ReviewRows.expire(sql, review.id());
            case FAIL -> failed(sql, review);
            case APPROVE -> ReviewRows.answer(sql, review.id(), Review.Status.APPROVED, approval());
            case ESCALATE -> ReviewRows.escalate(sql, review.id(), now());
        };
    }

    /// Stores the abort of the run in the same transaction, so that the run cannot complete after the deadline.
    private static boolean failed(Sql sql, Review review) throws SQLException {
        boolean isFirst = ReviewRows.expire(sql, review.id());
        Optional<Run> run = RunRows.activeAtTask(sql, review.sandbox(), review.task());
        if (isFirst && run.isPresent()) {
            RunRows.desiredState(
                    sql,
                    run.get().id(),
                    DesiredState.ABORT,
                    Optional.of(ReasonCode.REVIEW_EXPIRED),
                    Optional.of("review " + review.id() + " was not answered before its deadline"));
        }
        return isFirst;
    }

    private Review.Answer approval() {
        return new Review.Answer("approve", Optional.of("approved by the server at the deadline"), SYSTEM, now());
    }

    private static ReviewEvent timedOutEvent(Review review) {
        return switch (review.onTimeout()) {
            case REJECT, APPROVE, FAIL ->
                new ReviewEvent.Expired(review.id(), review.deadline(), Optional.of(review.onTimeout()));
            case ESCALATE -> new ReviewEvent.Escalated(review.id(), review.deadline());
        };
    }

    /// Appends a reminder for each review after half of its time.
    void remindDue() {
        for (Review review : db.read(sql -> ReviewRows.toRemind(sql, now()))) {
            change(
                    review,
                    sql -> ReviewRows.remind(sql, review.id()),
                    new ReviewEvent.Reminder(review.id(), review.deadline()));
        }
    }

    /// Returns the expired reviews whose runs must stop. Call [#runStopped] after the stop.
    List<Review> toFail() {
        return db.read(ReviewRows::toFail);
    }

    void runStopped(Review review) {
        db.write(sql -> {
            ReviewRows.runStopped(sql, review.id());
            return review;
        });
    }

    /// Changes a pending review and stores the event in the same transaction. Returns the review if the change
    /// applied.
    @CanIgnoreReturnValue
    private Optional<Review> change(Review review, SqlFunction<Boolean> change, ReviewEvent body) {
        String suffix = body.type().substring(body.type().indexOf('.') + 1);
        String name = body instanceof ReviewEvent.Expired ? "expired" : suffix;
        var event = new NewEvent(Optional.of(NewEvent.OUR_IDS + review.id() + "." + name), body, NewEvent.OURS);
        Optional<Outbox.PendingEvent> pending = db.write(sql -> {
            boolean isFirst = change.apply(sql);
            RunRows.settle(sql, review.sandbox());
            return isFirst ? Optional.of(outbox.put(sql, review.sandbox(), event)) : Optional.empty();
        });
        pending.ifPresent(stored -> {
            signals.signal(review.sandbox());
            outbox.send(stored);
        });
        return pending.map(_ -> review);
    }

    private static ReviewId named(String text) {
        byte[] hash = Digests.sha256().digest(text.getBytes(StandardCharsets.UTF_8));
        return ReviewId.random(new SplittableRandom(ByteBuffer.wrap(hash).getLong()));
    }

    private Instant now() {
        return clock.now();
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= 64 ? id : id.substring(0, 64) + "…";
        return new SandboxException(new RunFailure.NoSuchReview(shown));
    }
}
