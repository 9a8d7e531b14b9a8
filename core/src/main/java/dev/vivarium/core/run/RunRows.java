package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Spent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WorkerEvent;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;

/// Rows of runs. Stateless; each method runs in the transaction of the caller. After the end of a run only its cost
/// changes.
final class RunRows {
    private static final String ALIVE = "ended_at is null";
    private static final String NEWEST = " order by started_at desc, run_id desc";

    private RunRows() {}

    static void insert(Sql sql, Run run, boolean createdSandbox) throws SQLException {
        sql.update(
                "insert into sandbox_runs (run_id, sandbox_id, task_id, user_id, thread_id, runtime, command, model, status,"
                        + " budget_nanos, cost_nanos, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,"
                        + " tool_calls, session, wish, started_at, created_sandbox, guardian)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, ?)",
                run.id().value(),
                run.sandbox().value(),
                run.task().value(),
                run.owner().value(),
                run.thread().value(),
                run.program().runtime().text(),
                TextListColumn.encode(run.program().command()),
                run.program().model().orElse(null),
                run.status().text(),
                run.budgetUsd().map(Money::nanos).orElse(null),
                run.session().orElse(null),
                DesiredState.RUN.text(),
                run.startedAt().toEpochMilli(),
                createdSandbox ? 1 : 0,
                run.guardian().map(GuardianPolicy::text).orElse(null));
    }

    static boolean createdSandbox(Sql sql, RunId id) throws SQLException {
        return sql.first(
                        "select 1 from sandbox_runs where run_id = ? and created_sandbox = 1",
                        row -> row.getInt(1),
                        id.value())
                .isPresent();
    }

    static Optional<Run> find(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                "select * from sandbox_runs where sandbox_id = ?" + NEWEST + " limit 1",
                RunRows::read,
                sandbox.value());
    }

    /// Returns the active run of a sandbox at this task.
    static Optional<Run> activeAtTask(Sql sql, SandboxId sandbox, TaskId task) throws SQLException {
        return find(sql, sandbox).filter(run -> run.isActive() && run.task().equals(task));
    }

    /// Returns the newest run of a sandbox at this task, active or not.
    static Optional<Run> at(Sql sql, SandboxId sandbox, TaskId task) throws SQLException {
        return sql.first(
                "select * from sandbox_runs where sandbox_id = ? and task_id = ?" + NEWEST + " limit 1",
                RunRows::read,
                sandbox.value(),
                task.value());
    }

    static Map<UserId, Integer> activeByUser(Sql sql) throws SQLException {
        return sql.map(
                "select user_id, count(*) from sandbox_runs where " + ALIVE + " group by user_id",
                row -> new UserId(row.getString(1)),
                row -> row.getInt(2));
    }

    static List<Run> active(Sql sql) throws SQLException {
        return sql.list("select * from sandbox_runs where " + ALIVE + NEWEST, RunRows::read);
    }

    /// Reports whether a task has an active run.
    static boolean isTaken(Sql sql, TaskId task) throws SQLException {
        return sql.first(
                        "select 1 from sandbox_runs where task_id = ? and " + ALIVE, row -> row.getInt(1), task.value())
                .isPresent();
    }

    /// Returns the runs of sandboxes that exist, newest first.
    static List<Run> ofLiveSandboxes(Sql sql) throws SQLException {
        return sql.list(
                "select * from sandbox_runs where sandbox_id in (select id from sandboxes where ended_at is null)"
                        + NEWEST,
                RunRows::read);
    }

    static Optional<Run> find(Sql sql, RunId id) throws SQLException {
        return sql.first("select * from sandbox_runs where run_id = ?", RunRows::read, id.value());
    }

    /// Returns the newest runs that match the filter.
    static List<Run> list(Sql sql, RunFilter filter) throws SQLException {
        var where = new StringJoiner(" and ", " where ", "").setEmptyValue("");
        var values = new ArrayList<Object>();
        equal(where, values, "user_id", filter.owner().map(UserId::value));
        equal(where, values, "thread_id", filter.thread().map(ThreadId::value));
        equal(where, values, "task_id", filter.task().map(TaskId::value));
        equal(where, values, "status", filter.status().map(Run.Status::text));
        filter.before().ifPresent(place -> {
            where.add("(started_at < ? or started_at = ? and run_id < ?)");
            values.addAll(List.of(place.millis(), place.millis(), place.id()));
        });
        values.add(filter.limit());
        return sql.list("select * from sandbox_runs" + where + NEWEST + " limit ?", RunRows::read, values.toArray());
    }

    private static void equal(StringJoiner where, List<Object> values, String column, Optional<String> value) {
        value.ifPresent(text -> {
            where.add(column + " = ?");
            values.add(text);
        });
    }

    static void process(Sql sql, RunId id, String name) throws SQLException {
        sql.update("update sandbox_runs set process = ? where run_id = ? and " + ALIVE, name, id.value());
    }

    /// Reports whether the run is active.
    static boolean started(Sql sql, RunId id) throws SQLException {
        return sql.update(
                        "update sandbox_runs set status = ? where run_id = ? and " + ALIVE,
                        Run.Status.RUNNING.text(),
                        id.value())
                == 1;
    }

    /// Status and reason of an end: a sentence and a code.
    record End(Run.Status status, Optional<String> reason, String code) {}

    /// Reports whether the run was active before.
    static boolean end(Sql sql, RunId id, End end, Instant at) throws SQLException {
        return sql.update(
                        "update sandbox_runs set status = ?, reason = ?, reason_code = ?, ended_at = ?"
                                + " where run_id = ? and " + ALIVE,
                        end.status().text(),
                        end.reason().orElse(null),
                        end.code(),
                        at.toEpochMilli(),
                        id.value())
                == 1;
    }

    /// Replaces the reason of an ended run.
    static void requalify(Sql sql, RunId id, String reason, String code) throws SQLException {
        sql.update(
                "update sandbox_runs set reason = ?, reason_code = ? where run_id = ? and ended_at is not null",
                reason,
                code,
                id.value());
    }

    /// Returns the active runs whose last heartbeat is before a time, or after `now`. A run without a heartbeat is
    /// not one of them.
    static List<Run> silent(Sql sql, Instant before, Instant now) throws SQLException {
        return sql.list(
                "select * from sandbox_runs where (last_heartbeat < ? or last_heartbeat > ?) and " + ALIVE + NEWEST,
                RunRows::read,
                before.toEpochMilli(),
                now.toEpochMilli());
    }

    /// Sets the status of the active run to paused or running, by its desired state and its blocking reviews.
    static void settle(Sql sql, SandboxId sandbox) throws SQLException {
        Optional<String> reason =
                ReviewRows.blocking(sql, sandbox).map(review -> "waits for the answer to review " + review.id());
        if (reason.isEmpty() && isHeld(sql, sandbox)) {
            reason = Optional.of(Run.HELD);
        }
        sql.update(
                "update sandbox_runs set status = ?, reason = ? where sandbox_id = ? and status <> ? and " + ALIVE,
                reason.isPresent() ? Run.Status.PAUSED.text() : Run.Status.RUNNING.text(),
                reason.orElse(null),
                sandbox.value(),
                Run.Status.CREATING.text());
    }

    private static boolean isHeld(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                        "select 1 from sandbox_runs where sandbox_id = ? and wish = ? and " + ALIVE,
                        row -> row.getInt(1),
                        sandbox.value(),
                        DesiredState.PAUSE.text())
                .isPresent();
    }

    static void charge(Sql sql, RunId id, Usage usage) throws SQLException {
        sql.update(
                "update sandbox_runs set cost_nanos = cost_nanos + ?, input_tokens = input_tokens + ?,"
                        + " output_tokens = output_tokens + ?, cache_read_tokens = cache_read_tokens + ?,"
                        + " cache_write_tokens = cache_write_tokens + ? where run_id = ?",
                Money.nanos(usage.costUsd()),
                usage.inputTokens(),
                usage.outputTokens(),
                usage.cacheReadTokens(),
                usage.cacheWriteTokens(),
                id.value());
    }

    static void heartbeat(Sql sql, RunId id, Run.Heartbeat beat) throws SQLException {
        sql.update(
                "update sandbox_runs set last_heartbeat = ?, metrics = ? where run_id = ? and " + ALIVE,
                beat.at().toEpochMilli(),
                beat.metrics(),
                id.value());
    }

    /// Stores the usage that a program reports. It never decreases.
    static void reported(Sql sql, RunId id, WorkerEvent.UsageReported total) throws SQLException {
        sql.update(
                "update sandbox_runs set cost_nanos = case when cost_nanos < ? then ? else cost_nanos end,"
                        + " input_tokens = case when input_tokens < ? then ? else input_tokens end,"
                        + " output_tokens = case when output_tokens < ? then ? else output_tokens end where run_id = ?",
                Money.nanos(total.costUsd()),
                Money.nanos(total.costUsd()),
                total.inputTokens(),
                total.inputTokens(),
                total.outputTokens(),
                total.outputTokens(),
                id.value());
    }

    static void toolUsed(Sql sql, RunId id) throws SQLException {
        sql.update("update sandbox_runs set tool_calls = tool_calls + 1 where run_id = ?", id.value());
    }

    static void session(Sql sql, RunId id, String session) throws SQLException {
        sql.update("update sandbox_runs set session = ? where run_id = ?", session, id.value());
    }

    /// Stores the judgement of the agent. A failure is final: a later success does not replace it.
    static void verdict(Sql sql, RunId id, RunOutcome verdict) throws SQLException {
        sql.update(
                "update sandbox_runs set verdict = ?, verdict_text = ?, verdict_code = ? where run_id = ? and " + ALIVE
                        + " and coalesce(verdict, '') <> ?",
                verdict.kind().text(),
                verdict.text(),
                verdict.code(),
                id.value(),
                RunOutcome.Kind.FAILED.text());
    }

    static Optional<RunOutcome> verdict(Sql sql, RunId id) throws SQLException {
        return sql.first(
                "select verdict, verdict_text, verdict_code from sandbox_runs where run_id = ? and verdict is not null",
                row -> new RunOutcome(
                        TextEnum.of(RunOutcome.Kind.class, row.getString(1)),
                        row.getString(2),
                        Optional.ofNullable(row.getString(3)).orElse(ReasonCode.FAILED)),
                id.value());
    }

    static void result(Sql sql, RunId id, String result) throws SQLException {
        sql.update("update sandbox_runs set result = ? where run_id = ?", result, id.value());
    }

    /// Returns the result that the agent submitted.
    static Optional<String> result(Sql sql, RunId id) throws SQLException {
        return sql.first(
                "select result from sandbox_runs where run_id = ? and result is not null",
                row -> row.getString(1),
                id.value());
    }

    /// Keeps the first reason.
    ///
    /// @param detail sentence for people
    static void desiredState(
            Sql sql, RunId id, DesiredState desiredState, Optional<String> reason, Optional<String> detail)
            throws SQLException {
        sql.update(
                "update sandbox_runs set wish = ?, wish_detail = case when wish_reason is null then ? else wish_detail end,"
                        + " wish_reason = coalesce(wish_reason, ?) where run_id = ? and wish <> ?",
                desiredState.text(),
                detail.orElse(null),
                reason.orElse(null),
                id.value(),
                DesiredState.ABORT.text());
    }

    static Desired desired(Sql sql, RunId id) throws SQLException {
        return sql.first(
                        "select wish, wish_reason, wish_detail from sandbox_runs where run_id = ?",
                        row -> new Desired(
                                TextEnum.of(DesiredState.class, row.getString(1)),
                                Optional.ofNullable(row.getString(2)),
                                Optional.ofNullable(row.getString(3))),
                        id.value())
                .orElse(new Desired(DesiredState.RUN, Optional.empty(), Optional.empty()));
    }

    /// Desired state of a run, and its reason as a code and as a sentence.
    record Desired(DesiredState desiredState, Optional<String> reason, Optional<String> detail) {}

    private static Run read(ResultSet row) throws SQLException {
        return new Run(
                new RunId(row.getString("run_id")),
                new SandboxId(row.getString("sandbox_id")),
                new TaskId(row.getString("task_id")),
                new UserId(row.getString("user_id")),
                new ThreadId(row.getString("thread_id")),
                new Run.Program(
                        TextEnum.find(Run.Runtime.class, row.getString("runtime"))
                                .orElse(Run.Runtime.COMMAND),
                        TextListColumn.decode(row.getString("command")),
                        Optional.ofNullable(row.getString("model"))),
                TextEnum.find(Run.Status.class, row.getString("status")).orElse(Run.Status.FAILED),
                Optional.ofNullable(row.getString("reason")),
                Optional.ofNullable(row.getString("reason_code")),
                number(row, "budget_nanos").map(Money::dollars),
                spent(row),
                Optional.ofNullable(row.getString("session")),
                Optional.ofNullable(row.getString("process")),
                Instant.ofEpochMilli(row.getLong("started_at")),
                number(row, "ended_at").map(Instant::ofEpochMilli),
                heartbeat(row),
                Optional.ofNullable(row.getString("guardian"))
                        .flatMap(text -> TextEnum.find(GuardianPolicy.class, text)));
    }

    private static Spent spent(ResultSet row) throws SQLException {
        return new Spent(
                row.getLong("input_tokens"),
                row.getLong("output_tokens"),
                row.getLong("cache_read_tokens"),
                row.getLong("cache_write_tokens"),
                row.getLong("tool_calls"),
                Money.dollars(row.getLong("cost_nanos")));
    }

    private static Optional<Run.Heartbeat> heartbeat(ResultSet row) throws SQLException {
        String metrics = Optional.ofNullable(row.getString("metrics")).orElse("{}");
        return number(row, "last_heartbeat").map(at -> new Run.Heartbeat(Instant.ofEpochMilli(at), metrics));
    }

    private static Optional<Long> number(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(value);
    }
}
