package dev.vivarium.core.task;

import dev.vivarium.core.run.Money;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskAttempt.Status;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Rows of attempts. The database allows one live attempt of a task in each lane. A race has several lanes, from one
/// on; all other attempts are in lane zero. An attempt of a race is stored with those of all other lanes, so that the
/// attempts of two rounds never live at the same time. Stateless; each method runs in the transaction of the caller.
final class AttemptRows {
    static final String CANCELLED = "cancelled";

    /// Another attempt of the race won.
    static final String RACE_LOST = "race_lost";

    private static final Set<String> GIVEN_UP = Set.of(CANCELLED, RACE_LOST);
    private static final int FINISHED = 200;
    private static final String LIVE = "a.ended_at is null";

    /// A check has a timeout of its own.
    private static final String TIMED = " and a.stop_code is null and a.status <> 'checking'";

    private static final String SELECT_LIVE =
            "select a.task_id, a.attempt, a.fencing, a.run_id, a.worker, a.status, a.stop_code, a.started_at, a.lease_until,"
                    + " a.lane"
                    + " from task_attempts a where " + LIVE;

    /// Condition for the attempt `p` before an attempt that continues it.
    private static final String CONTINUED =
            " p.task_id = ? and p.attempt = ? and p.attempt >= (select first_attempt from task_queue"
                    + " where task_id = p.task_id) and p.run_id in (select run_id from run_restarts where verdict = 'restart')";

    private AttemptRows() {}

    /// An attempt that has not ended.
    ///
    /// @param fencing    number of the lease of the orchestrator that started it
    /// @param run        absent if a worker outside of the server claimed the task
    /// @param stopCode   reason for which the attempt must end
    /// @param leaseUntil end of the lease of the worker
    /// @param lane       zero, or the place in a race, from one on
    record Live(
            TaskId task,
            int number,
            long fencing,
            Optional<RunId> run,
            Optional<String> worker,
            Status status,
            Optional<String> stopCode,
            Instant startedAt,
            Optional<Instant> leaseUntil,
            int lane) {
        /// Reports whether nothing that the attempt does can change its task any more.
        boolean isGivenUp() {
            return stopCode.filter(GIVEN_UP::contains).isPresent();
        }
    }

    /// Returns the number of the next attempt.
    static int next(Sql sql, TaskId task) throws SQLException {
        return 1 + (int) sql.number("select max(attempt) from task_attempts where task_id = ?", task.value());
    }

    static void insert(Sql sql, Live attempt) throws SQLException {
        sql.update(
                "insert into task_attempts (task_id, attempt, fencing, run_id, worker, status, started_at, lease_until,"
                        + " lane) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                attempt.task().value(),
                attempt.number(),
                attempt.fencing(),
                attempt.run().map(RunId::value).orElse(null),
                attempt.worker().orElse(null),
                attempt.status().text(),
                attempt.startedAt().toEpochMilli(),
                attempt.leaseUntil().map(Instant::toEpochMilli).orElse(null),
                attempt.lane());
    }

    /// Charges the time of the attempt that a new attempt continues to the new one.
    static void continueTime(Sql sql, Live attempt) throws SQLException {
        if (attempt.lane() > 0) {
            return;
        }
        long used = sql.number(
                "select p.time_used_ms + p.ended_at - p.started_at from task_attempts p where" + CONTINUED,
                attempt.task().value(),
                previous(sql, attempt));
        sql.update(
                "update task_attempts set time_used_ms = ? where task_id = ? and attempt = ?",
                Math.max(0, used),
                attempt.task().value(),
                attempt.number());
    }

    /// Returns the run of the attempt that this attempt continues: the previous one, if its worker ended
    /// abnormally. Attempts in between whose worker did not start do not count. An attempt of a race starts anew.
    static Optional<RunId> continued(Sql sql, Live attempt) throws SQLException {
        return attempt.lane() > 0
                ? Optional.empty()
                : sql.first(
                        "select p.run_id from task_attempts p where" + CONTINUED,
                        row -> new RunId(row.getString(1)),
                        attempt.task().value(),
                        previous(sql, attempt));
    }

    /// Returns the number of the last attempt before this one whose worker started, or zero.
    private static int previous(Sql sql, Live attempt) throws SQLException {
        int previous = attempt.number() - 1;
        while (isUnstarted(sql, attempt.task(), previous)) {
            previous--;
        }
        return previous;
    }

    private static boolean isUnstarted(Sql sql, TaskId task, int number) throws SQLException {
        return sql.number(
                        "select count(*) from task_attempts a where a.task_id = ? and a.attempt = ?"
                                + " and a.error_code = ?",
                        task.value(),
                        number,
                        RetryPolicy.NOT_STARTED)
                > 0;
    }

    /// Deletes an attempt that had no effect.
    static void delete(Sql sql, Live attempt) throws SQLException {
        sql.update(
                "delete from task_attempts where task_id = ? and attempt = ?",
                attempt.task().value(),
                attempt.number());
    }

    static List<Live> live(Sql sql, TaskId task) throws SQLException {
        return sql.list(SELECT_LIVE + " and a.task_id = ? order by a.attempt", AttemptRows::live, task.value());
    }

    static Optional<Live> live(Sql sql, RunId run) throws SQLException {
        return sql.first(SELECT_LIVE + " and a.run_id = ?", AttemptRows::live, run.value());
    }

    /// Returns the live attempts of the orchestrator.
    static List<Live> live(Sql sql) throws SQLException {
        return sql.list(SELECT_LIVE + " and a.run_id is not null", AttemptRows::live);
    }

    /// Returns the attempts that have exceeded the time limit of their task and are not being stopped.
    static List<Live> tooLong(Sql sql, Instant now) throws SQLException {
        return sql.list(
                SELECT_LIVE + TIMED + " and a.started_at - a.time_used_ms <= (select ? - q.run_timeout_ms"
                        + " from task_queue q where q.task_id = a.task_id)",
                AttemptRows::live,
                now.toEpochMilli());
    }

    /// Moves the leases and time limits of live attempts after a jump of the clock. Their start times stay.
    static void move(Sql sql, Duration jump) throws SQLException {
        sql.update(
                "update task_attempts set lease_until = lease_until + ?, time_used_ms = time_used_ms - ?"
                        + " where ended_at is null",
                jump.toMillis(),
                jump.toMillis());
    }

    static List<Live> lapsed(Sql sql, Instant now) throws SQLException {
        return sql.list(SELECT_LIVE + " and a.lease_until <= ?", AttemptRows::live, now.toEpochMilli());
    }

    /// Returns the time at which a timeout or a lease of a live attempt is due.
    static Optional<Instant> nextDue(Sql sql) throws SQLException {
        long lease = sql.number("select min(a.lease_until) from task_attempts a where " + LIVE);
        long limit = sql.number("select min(a.started_at - a.time_used_ms + q.run_timeout_ms) from task_attempts a"
                + " join task_queue q on q.task_id = a.task_id where " + LIVE + TIMED);
        long first = lease == 0 ? limit : limit == 0 ? lease : Math.min(lease, limit);
        return first == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(first));
    }

    static Map<UserId, Integer> runningByUser(Sql sql) throws SQLException {
        return sql.map(
                "select q.user_id, count(distinct a.task_id) from task_attempts a join task_queue q on q.task_id = a.task_id"
                        + " where a.run_id is not null and " + LIVE + " group by q.user_id",
                row -> new UserId(row.getString(1)),
                row -> row.getInt(2));
    }

    static Map<String, Integer> runningByType(Sql sql) throws SQLException {
        return sql.map(
                "select q.agent_type, count(distinct a.task_id) from task_attempts a join task_queue q on q.task_id = a.task_id"
                        + " where a.run_id is not null and q.agent_type <> '' and " + LIVE + " group by q.agent_type",
                row -> row.getString(1),
                row -> row.getInt(2));
    }

    /// Gives an attempt to the orchestrator with this fencing number. Earlier orchestrators cannot begin its run.
    static void adopt(Sql sql, Live attempt, long fencing) throws SQLException {
        sql.update(
                "update task_attempts set fencing = ? where task_id = ? and attempt = ? and ended_at is null",
                fencing,
                attempt.task().value(),
                attempt.number());
    }

    /// Reports whether the run of an attempt may begin.
    static boolean mayBegin(Sql sql, Live attempt) throws SQLException {
        return sql.first(
                        "select 1 from task_attempts a where a.task_id = ? and a.attempt = ? and a.fencing = ?"
                                + " and a.stop_code is null and " + LIVE,
                        _ -> true,
                        attempt.task().value(),
                        attempt.number(),
                        attempt.fencing())
                .isPresent();
    }

    static void status(Sql sql, Live attempt, Status status) throws SQLException {
        sql.update(
                "update task_attempts set status = ? where task_id = ? and attempt = ?",
                status.text(),
                attempt.task().value(),
                attempt.number());
    }

    /// Stores that an attempt of a race waits for capacity. Its time limit starts anew.
    static void waits(Sql sql, Live attempt, Instant now) throws SQLException {
        sql.update(
                "update task_attempts set started_at = ? where task_id = ? and attempt = ?",
                now.toEpochMilli(),
                attempt.task().value(),
                attempt.number());
    }

    /// Makes the result of the run of an attempt the result of the task.
    static void takeResult(Sql sql, Live attempt) throws SQLException {
        sql.update(
                "update sandbox_tasks set result = (select r.result from sandbox_runs r where r.run_id = ?)"
                        + " where task_id = ?",
                attempt.run().orElseThrow().value(),
                attempt.task().value());
    }

    static void stop(Sql sql, Live attempt, String code) throws SQLException {
        sql.update(
                "update task_attempts set stop_code = coalesce(stop_code, ?) where task_id = ? and attempt = ?",
                code,
                attempt.task().value(),
                attempt.number());
    }

    static void renew(Sql sql, Live attempt, Instant leaseUntil) throws SQLException {
        sql.update(
                "update task_attempts set lease_until = ? where task_id = ? and attempt = ?",
                leaseUntil.toEpochMilli(),
                attempt.task().value(),
                attempt.number());
    }

    static void end(Sql sql, Live attempt, Status status, Optional<TaskError> error, Instant now) throws SQLException {
        sql.update(
                "update task_attempts set status = ?, ended_at = ?, lease_until = null, error_class = ?, error_code = ?,"
                        + " error_message = ? where task_id = ? and attempt = ?",
                status.text(),
                now.toEpochMilli(),
                error.map(why -> why.kind().text()).orElse(null),
                error.map(TaskError::code).orElse(null),
                error.map(TaskError::message).orElse(null),
                attempt.task().value(),
                attempt.number());
    }

    /// Returns the number of ended attempts from a number on with an error like this one: out of memory again, or
    /// of the same class.
    static int countSimilar(Sql sql, TaskId task, int from, TaskError error) throws SQLException {
        boolean isOom = error.code().equals(RetryPolicy.OOM);
        return (int) sql.number(
                "select count(*) from task_attempts where task_id = ? and attempt >= ? and "
                        + (isOom ? "error_code = ?" : "error_class = ?"),
                task.value(),
                from,
                isOom ? error.code() : error.kind().text());
    }

    /// Returns the number of failed attempts from a number on.
    static int failures(Sql sql, TaskId task, int from) throws SQLException {
        return (int) sql.number(
                "select count(*) from task_attempts where task_id = ? and attempt >= ? and error_class is not null",
                task.value(),
                from);
    }

    /// Returns the oldest ended attempts whose sandboxes exist, except those whose disk is still to be saved.
    static List<Dispatch.Finished> finished(Sql sql, Optional<UserId> user) throws SQLException {
        var values = new ArrayList<Object>();
        user.ifPresent(owner -> values.add(owner.value()));
        values.add(FINISHED);
        return sql.list(
                "select r.sandbox_id, a.ended_at from sandboxes s join sandbox_runs r on r.sandbox_id = s.id"
                        + " join task_attempts a on a.run_id = r.run_id"
                        + " where s.ended_at is null and a.ended_at is not null"
                        + " and not exists (select 1 from task_disks d where d.task_id = a.task_id"
                        + " and d.snapshot_id is null)"
                        + (user.isPresent() ? " and r.user_id = ?" : "") + " order by a.ended_at limit ?",
                row -> new Dispatch.Finished(new SandboxId(row.getString(1)), Instant.ofEpochMilli(row.getLong(2))),
                values.toArray());
    }

    static List<TaskAttempt> list(Sql sql, TaskId task) throws SQLException {
        return sql.list(
                "select a.*, r.cost_nanos, r.sandbox_id as run_sandbox from task_attempts a"
                        + " left join sandbox_runs r on r.run_id = a.run_id where a.task_id = ? order by a.attempt",
                AttemptRows::attempt,
                task.value());
    }

    private static Live live(ResultSet row) throws SQLException {
        return new Live(
                new TaskId(row.getString(1)),
                row.getInt(2),
                row.getLong(3),
                Optional.ofNullable(row.getString(4)).map(RunId::new),
                Optional.ofNullable(row.getString(5)),
                TextEnum.of(Status.class, row.getString(6)),
                Optional.ofNullable(row.getString(7)),
                Instant.ofEpochMilli(row.getLong(8)),
                QueueRows.number(row, "lease_until").map(Instant::ofEpochMilli),
                row.getInt("lane"));
    }

    /// Returns the sandbox of the completed attempt at a task.
    static Optional<SandboxId> completedSandbox(Sql sql, TaskId task) throws SQLException {
        return sql.first(
                "select r.sandbox_id from task_attempts a join sandbox_runs r on r.run_id = a.run_id"
                        + " where a.task_id = ? and a.status = 'completed'",
                row -> new SandboxId(row.getString(1)),
                task.value());
    }

    private static TaskAttempt attempt(ResultSet row) throws SQLException {
        Optional<String> kind = Optional.ofNullable(row.getString("error_class"));
        String code = row.getString("error_code");
        String message = row.getString("error_message");
        return new TaskAttempt(
                row.getInt("attempt"),
                Optional.ofNullable(row.getString("run_id")).map(RunId::new),
                Optional.ofNullable(row.getString("run_sandbox")).map(SandboxId::new),
                Optional.ofNullable(row.getString("worker")),
                TextEnum.of(Status.class, row.getString("status")),
                Instant.ofEpochMilli(row.getLong("started_at")),
                QueueRows.number(row, "ended_at").map(Instant::ofEpochMilli),
                QueueRows.number(row, "lease_until").map(Instant::ofEpochMilli),
                kind.map(text -> new TaskError(TextEnum.of(TaskError.Kind.class, text), code, message)),
                Money.dollars(QueueRows.number(row, "cost_nanos").orElse(0L)));
    }
}
