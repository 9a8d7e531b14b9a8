package dev.vivarium.core.run;

import dev.vivarium.core.run.Restarts.Entry;
import dev.vivarium.core.run.Restarts.Verdict;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Rows of abnormal ends. Stateless; each method runs in the transaction of the caller.
final class RestartRows {
    private static final int PAGE = 32;

    private RestartRows() {}

    static void insert(Sql sql, Run run, Verdict verdict, boolean isPending, Instant at) throws SQLException {
        sql.update(
                "insert into run_restarts (run_id, task_id, sandbox_id, reason_code, verdict, is_pending, happened_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
                run.id().value(),
                run.task().value(),
                run.sandbox().value(),
                run.reasonCode().orElse(""),
                verdict.text(),
                isPending ? 1 : 0,
                at.toEpochMilli());
    }

    static Optional<Entry> find(Sql sql, RunId run) throws SQLException {
        return sql.first("select * from run_restarts where run_id = ?", RestartRows::read, run.value());
    }

    /// Returns the number of restarts of a task since a time.
    static int count(Sql sql, TaskId task, Instant since) throws SQLException {
        return (int) sql.number(
                "select count(*) from run_restarts where task_id = ? and happened_at > ? and verdict = ?",
                task.value(),
                since.toEpochMilli(),
                Verdict.RESTART.text());
    }

    static boolean hasOom(Sql sql, TaskId task, Instant since) throws SQLException {
        return sql.number(
                        "select count(*) from run_restarts where task_id = ? and happened_at > ? and reason_code = ?",
                        task.value(),
                        since.toEpochMilli(),
                        ReasonCode.OOM)
                > 0;
    }

    static List<Entry> pending(Sql sql) throws SQLException {
        return sql.list(
                "select * from run_restarts where is_pending = 1 order by happened_at limit ?",
                RestartRows::read,
                PAGE);
    }

    static void quarantine(Sql sql, RunId run) throws SQLException {
        sql.update(
                "update run_restarts set verdict = ?, is_pending = 1 where run_id = ?",
                Verdict.QUARANTINE.text(),
                run.value());
    }

    static void snapshot(Sql sql, RunId run, Optional<SnapshotId> snapshot) throws SQLException {
        sql.update(
                "update run_restarts set snapshot_id = ? where run_id = ?",
                snapshot.map(SnapshotId::value).orElse(null),
                run.value());
    }

    static List<Entry> heldBefore(Sql sql, Instant time) throws SQLException {
        return sql.list(
                "select * from run_restarts where snapshot_id is not null and happened_at < ?"
                        + " order by happened_at limit ?",
                RestartRows::read,
                time.toEpochMilli(),
                PAGE);
    }

    /// Stores the run that continues the task. The restart is pending until its snapshot is deleted.
    static void begun(Sql sql, RunId run, RunId next) throws SQLException {
        sql.update(
                "update run_restarts set is_pending = 1, next_run_id = ? where run_id = ?", next.value(), run.value());
    }

    static void done(Sql sql, RunId run, Optional<RunId> next) throws SQLException {
        sql.update(
                "update run_restarts set is_pending = 0, next_run_id = ? where run_id = ?",
                next.map(RunId::value).orElse(null),
                run.value());
    }

    private static Entry read(ResultSet row) throws SQLException {
        return new Entry(
                new RunId(row.getString("run_id")),
                new TaskId(row.getString("task_id")),
                new SandboxId(row.getString("sandbox_id")),
                row.getString("reason_code"),
                TextEnum.of(Verdict.class, row.getString("verdict")),
                Optional.ofNullable(row.getString("snapshot_id")).map(SnapshotId::new),
                Optional.ofNullable(row.getString("next_run_id")).map(RunId::new),
                Instant.ofEpochMilli(row.getLong("happened_at")));
    }
}
