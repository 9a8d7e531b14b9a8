package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.RunId;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Rows of tasks. Stateless; each method runs in the transaction of the caller.
public final class TaskRows {
    /// Number of ids in one query. Shorter lists are padded, so that the statement is prepared once.
    private static final int IDS_AT_ONCE = 64;

    private static final String TITLES = "select task_id, title from sandbox_tasks where task_id in ("
            + String.join(", ", Collections.nCopies(IDS_AT_ONCE, "?")) + ")";

    private TaskRows() {}

    static Map<TaskId, String> titles(Sql sql, List<TaskId> ids) throws SQLException {
        var titles = new HashMap<TaskId, String>();
        for (int from = 0; from < ids.size(); from += IDS_AT_ONCE) {
            var padded = new Object[IDS_AT_ONCE];
            for (int i = 0; i < IDS_AT_ONCE; i++) {
                padded[i] = ids.get(Math.min(from + i, ids.size() - 1)).value();
            }
            titles.putAll(sql.map(TITLES, row -> new TaskId(row.getString(1)), row -> row.getString(2), padded));
        }
        return titles;
    }

    public static void insert(Sql sql, Task task) throws SQLException {
        sql.update(
                "insert into sandbox_tasks (task_id, user_id, title, description, type, priority, context, constraints,"
                        + " status, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                task.id().value(),
                task.owner().value(),
                task.wanted().title(),
                task.wanted().description(),
                task.wanted().type().orElse(null),
                task.wanted().priority().orElse(null),
                task.wanted().context(),
                task.wanted().constraints(),
                task.status().text(),
                task.createdAt().toEpochMilli(),
                task.updatedAt().toEpochMilli());
    }

    public static Optional<Task> find(Sql sql, TaskId id) throws SQLException {
        return sql.first("select * from sandbox_tasks where task_id = ?", TaskRows::read, id.value());
    }

    /// Sets the status of a task that is not in the queue. The queue sets the status of its tasks itself.
    static void status(Sql sql, TaskId id, Task.Status status, Optional<String> message, Instant at)
            throws SQLException {
        sql.update(
                "update sandbox_tasks set status = ?, message = coalesce(?, message), updated_at = ? where task_id = ?"
                        + " and not exists (select 1 from task_queue where task_queue.task_id = sandbox_tasks.task_id)",
                status.text(),
                message.orElse(null),
                at.toEpochMilli(),
                id.value());
    }

    static void reported(Sql sql, TaskId id, Task.Report status, Optional<String> message, Instant at)
            throws SQLException {
        sql.update(
                "update sandbox_tasks set reported_status = ?, message = coalesce(?, message), updated_at = ?"
                        + " where task_id = ?",
                status.text(),
                message.orElse(null),
                at.toEpochMilli(),
                id.value());
    }

    static boolean isQueued(Sql sql, TaskId id) throws SQLException {
        return sql.first("select 1 from task_queue where task_id = ?", _ -> true, id.value())
                .isPresent();
    }

    /// Reports whether a run is an attempt of a race. Only the winner changes the task.
    static boolean isInRace(Sql sql, RunId run) throws SQLException {
        return sql.first("select 1 from task_attempts where run_id = ? and lane > 0", _ -> true, run.value())
                .isPresent();
    }

    public static void result(Sql sql, TaskId id, String result, Instant at) throws SQLException {
        sql.update(
                "update sandbox_tasks set result = ?, updated_at = ? where task_id = ?",
                result,
                at.toEpochMilli(),
                id.value());
    }

    /// Deletes the result and the report of a task that is started again.
    public static void forgetResult(Sql sql, TaskId id) throws SQLException {
        sql.update("update sandbox_tasks set result = null, reported_status = null where task_id = ?", id.value());
    }

    public static Task read(ResultSet row) throws SQLException {
        return new Task(
                new TaskId(row.getString("task_id")),
                new UserId(row.getString("user_id")),
                new NewTask(
                        row.getString("title"),
                        row.getString("description"),
                        Optional.ofNullable(row.getString("type")),
                        Optional.ofNullable(row.getString("priority")),
                        row.getString("context"),
                        row.getString("constraints")),
                TextEnum.find(Task.Status.class, row.getString("status")).orElse(Task.Status.PENDING),
                Optional.ofNullable(row.getString("reported_status"))
                        .flatMap(text -> TextEnum.find(Task.Report.class, text)),
                Optional.ofNullable(row.getString("message")),
                Optional.ofNullable(row.getString("result")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }
}
