package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/// Rows with the times of the last work and of the last input of a person, by sandbox. Stateless; each method runs in
/// the transaction of the caller.
///
/// A run is newer than the activity of an earlier run in its sandbox, so a row for each sandbox suffices.
final class Activity {
    /// Events that show progress. The last two are what the workers of this server call `agent.assistant_message`:
    /// messages of an agent, and output of a program.
    static final Set<String> WORK = Set.of(
            "agent.file_edited",
            "agent.tool_completed",
            "agent.subagent_completed",
            "agent.skill_completed",
            "agent.completed",
            "agent.assistant_message",
            "agent.tool_use",
            "agent.tool_result",
            "agent.message",
            "agent.output");

    /// Input of a person. A resumed run starts to count anew.
    static final Set<String> INPUT =
            Set.of("user.message", "user.interrupt", "user.guidance", "user.approve", "user.reject", "sandbox.resumed");

    private Activity() {}

    /// A run without work.
    ///
    /// @param lastWorkAt last work, or the start of the run
    record IdleRun(RunId run, SandboxId sandbox, Instant lastWorkAt) {}

    /// Stores the time of an event.
    static void record(Sql sql, SandboxId sandbox, Event event) throws SQLException {
        long at = event.at().toEpochMilli();
        String column = WORK.contains(event.type()) ? "work_at" : "input_at";
        sql.update(
                "insert into sandbox_activity (sandbox_id, work_at, input_at) values (?, ?, ?)"
                        + " on conflict (sandbox_id) do update set " + column + " = excluded." + column
                        + " where sandbox_activity." + column + " < excluded." + column,
                sandbox.value(),
                WORK.contains(event.type()) ? at : 0,
                WORK.contains(event.type()) ? 0 : at);
    }

    /// Returns the running runs that are alive and have neither work nor input since `threshold`.
    ///
    /// @param alive a run with a heartbeat since this time is alive
    static List<IdleRun> idle(Sql sql, Instant alive, Instant threshold) throws SQLException {
        return sql.list(
                "select r.run_id, r.sandbox_id, r.started_at, a.work_at from sandbox_runs r"
                        + " left join sandbox_activity a on a.sandbox_id = r.sandbox_id"
                        + " where r.ended_at is null and r.status = 'running' and r.last_heartbeat >= ?"
                        + " and r.started_at < ? and coalesce(a.work_at, 0) < ? and coalesce(a.input_at, 0) < ?",
                row -> new IdleRun(
                        new RunId(row.getString(1)),
                        new SandboxId(row.getString(2)),
                        Instant.ofEpochMilli(Math.max(row.getLong(3), row.getLong(4)))),
                alive.toEpochMilli(),
                threshold.toEpochMilli(),
                threshold.toEpochMilli(),
                threshold.toEpochMilli());
    }

    /// Deletes the rows of sandboxes without an active run.
    static void forgetEnded(Sql sql) throws SQLException {
        sql.update("delete from sandbox_activity where not exists (select 1 from sandbox_runs r"
                + " where r.sandbox_id = sandbox_activity.sandbox_id and r.ended_at is null)");
    }
}
