package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Spent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Runs as rows. All of them are calls on a transaction of the caller. A run that has ended is never changed again,
/// except for what it cost.
final class RunRows {
    private static final String ALIVE = "ended_at is null";
    private static final String NEWEST = " order by started_at desc, run_id desc";

    private RunRows() {}

    static void insert(Sql sql, Run run) throws SQLException {
        sql.update(
                "insert into sandbox_runs (run_id, sandbox_id, task_id, user_id, thread_id, runtime, command, model, status,"
                        + " budget_nanos, cost_nanos, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,"
                        + " tool_calls, session, started_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?)",
                run.id().value(),
                run.sandbox().value(),
                run.task().value(),
                run.owner().value(),
                run.thread().value(),
                run.program().runtime().text(),
                Words.encode(run.program().command()),
                run.program().model().orElse(null),
                run.status().text(),
                run.budgetUsd().map(Money::nanos).orElse(null),
                run.session().orElse(null),
                run.startedAt().toEpochMilli());
    }

    /// The newest run of a sandbox.
    static Optional<Run> find(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                "select * from sandbox_runs where sandbox_id = ?" + NEWEST + " limit 1",
                RunRows::read,
                sandbox.value());
    }

    /// Those that have not ended.
    static List<Run> active(Sql sql) throws SQLException {
        return sql.list("select * from sandbox_runs where " + ALIVE + NEWEST, RunRows::read);
    }

    /// The newest of all, with those of `owner` alone if there is one.
    static List<Run> newest(Sql sql, Optional<UserId> owner, Optional<TaskId> task, int limit) throws SQLException {
        return sql.list(
                "select * from sandbox_runs where (cast(? as text) is null or user_id = ?)"
                        + " and (cast(? as text) is null or task_id = ?)" + NEWEST + " limit ?",
                RunRows::read,
                owner.map(UserId::value).orElse(null),
                owner.map(UserId::value).orElse(null),
                task.map(TaskId::value).orElse(null),
                task.map(TaskId::value).orElse(null),
                limit);
    }

    static void started(Sql sql, RunId id, String process) throws SQLException {
        sql.update(
                "update sandbox_runs set status = ?, process = ? where run_id = ? and " + ALIVE,
                Run.Status.RUNNING.text(),
                process,
                id.value());
    }

    /// Reports whether it had not ended before.
    static boolean end(Sql sql, RunId id, Run.Status status, Optional<String> reason, Instant at) throws SQLException {
        return sql.update(
                        "update sandbox_runs set status = ?, reason = ?, ended_at = ? where run_id = ? and " + ALIVE,
                        status.text(),
                        reason.orElse(null),
                        at.toEpochMilli(),
                        id.value())
                == 1;
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

    private static Run read(ResultSet row) throws SQLException {
        return new Run(
                new RunId(row.getString("run_id")),
                new SandboxId(row.getString("sandbox_id")),
                new TaskId(row.getString("task_id")),
                new UserId(row.getString("user_id")),
                new ThreadId(row.getString("thread_id")),
                new Run.Program(
                        Run.Runtime.find(row.getString("runtime")).orElse(Run.Runtime.COMMAND),
                        Words.decode(row.getString("command")),
                        Optional.ofNullable(row.getString("model"))),
                Run.Status.find(row.getString("status")).orElse(Run.Status.FAILED),
                Optional.ofNullable(row.getString("reason")),
                number(row, "budget_nanos").map(Money::dollars),
                spent(row),
                Optional.ofNullable(row.getString("session")),
                Optional.ofNullable(row.getString("process")),
                Instant.ofEpochMilli(row.getLong("started_at")),
                number(row, "ended_at").map(Instant::ofEpochMilli),
                number(row, "last_heartbeat").map(Instant::ofEpochMilli));
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

    private static Optional<Long> number(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(value);
    }
}
