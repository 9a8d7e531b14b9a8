package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Rows of reviews. Stateless; each method runs in the transaction of the caller. Only pending reviews change.
final class ReviewRows {
    private static final String PENDING = "status = 'pending'";

    private ReviewRows() {}

    /// Reports whether the review is new.
    static boolean insert(Sql sql, Review review) throws SQLException {
        return sql.update(
                        "insert into sandbox_reviews (review_id, sandbox_id, task_id, reason, description, context, options,"
                                + " blocking, status, created_at, deadline, on_timeout, remind_at)"
                                + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                                + " on conflict do nothing",
                        review.id().value(),
                        review.sandbox().value(),
                        review.task().value(),
                        review.asked().reason(),
                        review.asked().description(),
                        review.asked().context(),
                        TextListColumn.encode(review.asked().options()),
                        review.asked().blocking() ? 1 : 0,
                        review.status().text(),
                        review.createdAt().toEpochMilli(),
                        review.deadline().toEpochMilli(),
                        review.onTimeout().text(),
                        (review.createdAt().toEpochMilli() + review.deadline().toEpochMilli()) / 2)
                == 1;
    }

    static Optional<Review> find(Sql sql, SandboxId sandbox, ReviewId id) throws SQLException {
        return sql.first(
                "select * from sandbox_reviews where review_id = ? and sandbox_id = ?",
                ReviewRows::read,
                id.value(),
                sandbox.value());
    }

    static List<Review> list(Sql sql, SandboxId sandbox, int limit) throws SQLException {
        return sql.list(
                "select * from sandbox_reviews where sandbox_id = ? order by created_at desc, review_id limit ?",
                ReviewRows::read,
                sandbox.value(),
                limit);
    }

    /// Returns the newest reviews of all sandboxes, with a status and of the threads of a user if given.
    static List<ReviewEntry> listAll(Sql sql, Optional<Review.Status> status, Optional<UserId> user, int limit)
            throws SQLException {
        @Nullable String wanted = status.map(Review.Status::text).orElse(null);
        @Nullable String name = user.map(UserId::value).orElse(null);
        return sql.list(
                """
                select r.*, s.thread_id as of_thread, s.user_id as of_user, coalesce(t.title, '') as task_title
                from sandbox_reviews r
                join sandboxes s on s.id = r.sandbox_id
                left join sandbox_tasks t on t.task_id = r.task_id
                where (cast(? as text) is null or r.status = ?)
                  and (cast(? as text) is null or s.user_id = ?
                    or exists (select 1 from members m
                      where m.owner_id = s.user_id and m.thread_id = s.thread_id and m.user_id = ?))
                order by r.created_at desc, r.review_id limit ?""",
                row -> new ReviewEntry(
                        read(row),
                        new ThreadKey(new UserId(row.getString("of_user")), new ThreadId(row.getString("of_thread"))),
                        row.getString("task_title")),
                wanted,
                wanted,
                name,
                name,
                name,
                limit);
    }

    static Map<SandboxId, Integer> pending(Sql sql) throws SQLException {
        return sql.map(
                "select sandbox_id, count(*) from sandbox_reviews where " + PENDING + " group by sandbox_id",
                row -> new SandboxId(row.getString(1)),
                row -> row.getInt(2));
    }

    /// Moves the deadlines and reminders of pending reviews after a jump of the clock. Returns their number.
    static int move(Sql sql, Duration jump) throws SQLException {
        return sql.update(
                "update sandbox_reviews set deadline = deadline + ?, remind_at = remind_at + ? where " + PENDING,
                jump.toMillis(),
                jump.toMillis());
    }

    /// Returns the pending reviews whose deadline has passed, without those that stay open.
    static List<Review> due(Sql sql, Instant now) throws SQLException {
        return sql.list(
                "select * from sandbox_reviews where " + PENDING + " and deadline <= ? and escalated_at is null",
                ReviewRows::read,
                now.toEpochMilli());
    }

    /// Returns the pending reviews whose reminder is due.
    static List<Review> toRemind(Sql sql, Instant now) throws SQLException {
        return sql.list(
                "select * from sandbox_reviews where " + PENDING + " and remind_at <= ? and deadline > ?",
                ReviewRows::read,
                now.toEpochMilli(),
                now.toEpochMilli());
    }

    /// Reports whether the reminder of a pending review was due.
    static boolean remind(Sql sql, ReviewId id) throws SQLException {
        return sql.update(
                        "update sandbox_reviews set remind_at = null where review_id = ? and remind_at is not null and "
                                + PENDING,
                        id.value())
                == 1;
    }

    /// Marks a pending review as one that stays open after its deadline. Reports whether it was not marked before.
    static boolean escalate(Sql sql, ReviewId id, Instant now) throws SQLException {
        return sql.update(
                        "update sandbox_reviews set escalated_at = ? where review_id = ? and escalated_at is null and "
                                + PENDING,
                        now.toEpochMilli(),
                        id.value())
                == 1;
    }

    /// Returns the expired reviews whose runs must stop.
    static List<Review> toFail(Sql sql) throws SQLException {
        return sql.list(
                "select * from sandbox_reviews where status = 'expired' and on_timeout = 'fail' and run_stopped = 0",
                ReviewRows::read);
    }

    static void runStopped(Sql sql, ReviewId id) throws SQLException {
        sql.update("update sandbox_reviews set run_stopped = 1 where review_id = ?", id.value());
    }

    /// Returns the oldest pending review that the agent of a sandbox waits for.
    static Optional<Review> blocking(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                "select * from sandbox_reviews where sandbox_id = ? and blocking = 1 and " + PENDING
                        + " order by created_at limit 1",
                ReviewRows::read,
                sandbox.value());
    }

    static int pending(Sql sql, SandboxId sandbox) throws SQLException {
        return (int)
                sql.number("select count(*) from sandbox_reviews where sandbox_id = ? and " + PENDING, sandbox.value());
    }

    /// Reports whether the review was pending.
    static boolean answer(Sql sql, ReviewId id, Review.Status status, Review.Answer answer) throws SQLException {
        return sql.update(
                        "update sandbox_reviews set status = ?, decision = ?, comment = ?, answered_by = ?, answered_at = ?"
                                + " where review_id = ? and " + PENDING,
                        status.text(),
                        answer.decision(),
                        answer.comment().orElse(null),
                        answer.by().value(),
                        answer.at().toEpochMilli(),
                        id.value())
                == 1;
    }

    /// Reports whether the review was pending.
    static boolean expire(Sql sql, ReviewId id) throws SQLException {
        return sql.update(
                        "update sandbox_reviews set status = 'expired' where review_id = ? and " + PENDING, id.value())
                == 1;
    }

    /// Cancels the pending reviews of a run that is over.
    static void cancel(Sql sql, SandboxId sandbox) throws SQLException {
        sql.update(
                "update sandbox_reviews set status = 'cancelled' where sandbox_id = ? and " + PENDING, sandbox.value());
    }

    private static Review read(ResultSet row) throws SQLException {
        Optional<String> decision = Optional.ofNullable(row.getString("decision"));
        Optional<String> comment = Optional.ofNullable(row.getString("comment"));
        Optional<String> by = Optional.ofNullable(row.getString("answered_by"));
        Instant at = Instant.ofEpochMilli(row.getLong("answered_at"));
        Instant createdAt = Instant.ofEpochMilli(row.getLong("created_at"));
        Instant deadline = Instant.ofEpochMilli(row.getLong("deadline"));
        long escalated = row.getLong("escalated_at");
        return new Review(
                new ReviewId(row.getString("review_id")),
                new SandboxId(row.getString("sandbox_id")),
                new TaskId(row.getString("task_id")),
                new NewReview(
                        row.getString("reason"),
                        row.getString("description"),
                        row.getString("context"),
                        TextListColumn.decode(row.getString("options")),
                        row.getInt("blocking") == 1,
                        policy(row.getString("on_timeout"), Duration.between(createdAt, deadline))),
                TextEnum.find(Review.Status.class, row.getString("status")).orElse(Review.Status.EXPIRED),
                decision.map(word -> new Review.Answer(word, comment, new UserId(by.orElse("unknown")), at)),
                createdAt,
                deadline,
                escalated == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(escalated)));
    }

    private static ReviewPolicy policy(String onTimeout, Duration timeout) {
        return new ReviewPolicy(
                Optional.of(timeout).filter(Duration::isPositive),
                TextEnum.find(ReviewPolicy.OnTimeout.class, onTimeout));
    }
}
