package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/// Rows of the trajectories of active runs. Stateless; each method runs in the transaction of the caller.
final class TrajectoryRows {
    private TrajectoryRows() {}

    /// The trajectory of the active run of a sandbox.
    ///
    /// @param seq     newest event in `state`
    /// @param state   text of the [Trajectory]
    /// @param ladder  actions so far
    /// @param pending act that may not be done yet
    record Row(
            SandboxId sandbox,
            RunId run,
            TaskId task,
            UserId owner,
            GuardianPolicy policy,
            long seq,
            String state,
            Ladder ladder,
            Optional<GuardianAction> pending) {}

    /// Stores the trajectory of a new run. It replaces that of the previous run of the sandbox.
    static void begin(Sql sql, Run run, GuardianPolicy policy, Trajectory trajectory) throws SQLException {
        end(sql, run.sandbox());
        sql.update(
                "insert into guardian_trajectories (sandbox_id, run_id, task_id, user_id, policy, seq, state, ladder)"
                        + " values (?, ?, ?, ?, ?, ?, ?, '')",
                run.sandbox().value(),
                run.id().value(),
                run.task().value(),
                run.owner().value(),
                policy.text(),
                trajectory.counters.seq,
                TrajectoryText.encode(trajectory));
    }

    static void end(Sql sql, SandboxId sandbox) throws SQLException {
        sql.update("delete from guardian_trajectories where sandbox_id = ?", sandbox.value());
    }

    static Optional<Row> find(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                "select * from guardian_trajectories where sandbox_id = ?", TrajectoryRows::read, sandbox.value());
    }

    static List<Row> all(Sql sql) throws SQLException {
        return sql.list("select * from guardian_trajectories order by sandbox_id", TrajectoryRows::read);
    }

    /// Stores the state after an event.
    static void fold(Sql sql, SandboxId sandbox, long seq, String state) throws SQLException {
        sql.update(
                "update guardian_trajectories set seq = ?, state = ? where sandbox_id = ?",
                seq,
                state,
                sandbox.value());
    }

    /// Stores a decision, and reports whether the run is still the same.
    static boolean decide(Sql sql, Row row, Ladder ladder, Optional<GuardianAction> action) throws SQLException {
        return sql.update(
                        "update guardian_trajectories set ladder = ?, pending = ? where sandbox_id = ? and run_id = ?",
                        ladder.text(),
                        action.map(GuardianAction::encoded).orElse(null),
                        row.sandbox().value(),
                        row.run().value())
                == 1;
    }

    private static Row read(ResultSet row) throws SQLException {
        return new Row(
                new SandboxId(row.getString("sandbox_id")),
                new RunId(row.getString("run_id")),
                new TaskId(row.getString("task_id")),
                new UserId(row.getString("user_id")),
                TextEnum.find(GuardianPolicy.class, row.getString("policy")).orElse(GuardianPolicy.WATCH),
                row.getLong("seq"),
                row.getString("state"),
                Ladder.of(row.getString("ladder").lines().toList()),
                Optional.ofNullable(row.getString("pending")).flatMap(GuardianAction::of));
    }
}
