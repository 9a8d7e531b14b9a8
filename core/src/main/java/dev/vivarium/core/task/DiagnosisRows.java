package dev.vivarium.core.task;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/// Rows of the reports about stuck workflows. Stateless; each method runs in the transaction of the caller.
final class DiagnosisRows {
    private DiagnosisRows() {}

    /// Stores that a state is reported. Returns false if it was reported before.
    static boolean insert(Sql sql, String state, Instant now) throws SQLException {
        return sql.update(
                        "insert into task_diagnoses (state, reported_at) values (?, ?) on conflict do nothing",
                        state,
                        now.toEpochMilli())
                == 1;
    }

    static void diagnostic(Sql sql, String state, TaskId task) throws SQLException {
        sql.update("update task_diagnoses set diagnostic_task_id = ? where state = ?", task.value(), state);
    }

    /// Reports whether a task is a diagnostic task.
    static boolean isDiagnostic(Sql sql, TaskId task) throws SQLException {
        return sql.first("select 1 from task_diagnoses where diagnostic_task_id = ?", _ -> true, task.value())
                .isPresent();
    }

    static String message(Sql sql, TaskId task) throws SQLException {
        return sql.first(
                        "select message from sandbox_tasks where task_id = ? and message is not null",
                        row -> row.getString(1),
                        task.value())
                .orElse("");
    }

    /// Returns the sandbox of the newest attempt at a task.
    static Optional<SandboxId> newestSandbox(Sql sql, TaskId task) throws SQLException {
        return sql.first(
                "select r.sandbox_id from task_attempts a join sandbox_runs r on r.run_id = a.run_id"
                        + " where a.task_id = ? order by a.attempt desc limit 1",
                row -> new SandboxId(row.getString(1)),
                task.value());
    }
}
