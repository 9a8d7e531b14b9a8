package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
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
final class TaskRows {
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
            for (var found :
                    sql.list(TITLES, row -> Map.entry(new TaskId(row.getString(1)), row.getString(2)), padded)) {
                titles.put(found.getKey(), found.getValue());
            }
        }
        return titles;
    }

    static void insert(Sql sql, Task task) throws SQLException {
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

    static Optional<Task> find(Sql sql, TaskId id) throws SQLException {
        return sql.first("select * from sandbox_tasks where task_id = ?", TaskRows::read, id.value());
    }

    static void status(Sql sql, TaskId id, Task.Status status, Optional<String> message, Instant at)
            throws SQLException {
        sql.update(
                "update sandbox_tasks set status = ?, message = coalesce(?, message), updated_at = ? where task_id = ?",
                status.text(),
                message.orElse(null),
                at.toEpochMilli(),
                id.value());
    }

    static void result(Sql sql, TaskId id, String result, Instant at) throws SQLException {
        sql.update(
                "update sandbox_tasks set result = ?, updated_at = ? where task_id = ?",
                result,
                at.toEpochMilli(),
                id.value());
    }

    /// Deletes the result of a task that is started again.
    static void forgetResult(Sql sql, TaskId id) throws SQLException {
        sql.update("update sandbox_tasks set result = null where task_id = ?", id.value());
    }

    private static Task read(ResultSet row) throws SQLException {
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
                Task.Status.find(row.getString("status")).orElse(Task.Status.PENDING),
                Optional.ofNullable(row.getString("message")),
                Optional.ofNullable(row.getString("result")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }
}
