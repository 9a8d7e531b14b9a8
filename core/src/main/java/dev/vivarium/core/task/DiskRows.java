package dev.vivarium.core.task;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TaskId;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/// Rows of the disks of tasks that other tasks inherit. A row exists while such a task has not ended. Stateless; each
/// method runs in the transaction of the caller.
final class DiskRows {
    private static final String OPEN =
            " exists (select 1 from task_queue q join sandbox_tasks t on t.task_id = q.task_id"
                    + " where q.inherit_from = d.task_id and q.inherit_files = 1"
                    + " and t.status not in ('completed', 'failed', 'cancelled'))";

    private DiskRows() {}

    /// Disk of a task, with its snapshot if the server has taken it.
    record Disk(TaskId task, Optional<SnapshotId> snapshot) {}

    /// Stores that a task needs the disk of the task that it inherits from. Does nothing if it inherits no files.
    static void want(Sql sql, TaskId heir) throws SQLException {
        sql.update(
                "insert into task_disks (task_id) select inherit_from from task_queue"
                        + " where task_id = ? and inherit_files = 1 on conflict do nothing",
                heir.value());
    }

    static boolean isAny(Sql sql) throws SQLException {
        return sql.first("select 1 from task_disks limit 1", _ -> true).isPresent();
    }

    static Optional<SnapshotId> snapshot(Sql sql, TaskId task) throws SQLException {
        return sql.first(
                "select snapshot_id from task_disks where task_id = ? and snapshot_id is not null",
                row -> new SnapshotId(row.getString(1)),
                task.value());
    }

    static void store(Sql sql, TaskId task, SnapshotId snapshot) throws SQLException {
        sql.update(
                "insert into task_disks (task_id, snapshot_id) values (?, ?)"
                        + " on conflict (task_id) do update set snapshot_id = excluded.snapshot_id",
                task.value(),
                snapshot.value());
    }

    /// Returns the completed tasks whose disks are to be saved.
    static List<TaskId> unsaved(Sql sql) throws SQLException {
        return sql.list(
                "select d.task_id from task_disks d join sandbox_tasks p on p.task_id = d.task_id"
                        + " where d.snapshot_id is null and p.status = 'completed' and" + OPEN,
                row -> new TaskId(row.getString(1)));
    }

    /// Returns the disks that no task needs any more.
    static List<Disk> unused(Sql sql) throws SQLException {
        return sql.list(
                "select d.task_id, d.snapshot_id from task_disks d where not" + OPEN,
                row -> new Disk(
                        new TaskId(row.getString(1)),
                        Optional.ofNullable(row.getString(2)).map(SnapshotId::new)));
    }

    static void delete(Sql sql, TaskId task) throws SQLException {
        sql.update("delete from task_disks where task_id = ?", task.value());
    }
}
