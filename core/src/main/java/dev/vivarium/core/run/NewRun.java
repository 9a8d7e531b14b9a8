package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Repository;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.TaskId;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.Optional;

/// Request to start an agent. Immutable.
///
/// @param resumeFrom sandbox of the run whose conversation the new run continues
/// @param guardian   policy of the run, if it is not that of the server
/// @param repository git repository that the agent works on
/// @param files      snapshot that the new sandbox starts from
public record NewRun(
        Assignment task,
        Run.Program program,
        NewSandbox sandbox,
        Optional<BigDecimal> budgetUsd,
        Optional<SandboxId> resumeFrom,
        Optional<GuardianPolicy> guardian,
        Optional<Repository> repository,
        Optional<SnapshotInfo> files) {
    /// A run without a repository, with the policy of the server.
    public NewRun(
            Assignment task,
            Run.Program program,
            NewSandbox sandbox,
            Optional<BigDecimal> budgetUsd,
            Optional<SandboxId> resumeFrom) {
        this(task, program, sandbox, budgetUsd, resumeFrom, Optional.empty(), Optional.empty());
    }

    /// A run that does not start from a snapshot.
    public NewRun(
            Assignment task,
            Run.Program program,
            NewSandbox sandbox,
            Optional<BigDecimal> budgetUsd,
            Optional<SandboxId> resumeFrom,
            Optional<GuardianPolicy> guardian,
            Optional<Repository> repository) {
        this(task, program, sandbox, budgetUsd, resumeFrom, guardian, repository, Optional.empty());
    }

    /// Condition for the start of a run.
    @FunctionalInterface
    public interface Check {
        void require(Sql sql) throws SQLException;
    }

    /// Task of the agent.
    public sealed interface Assignment {
        /// A new task.
        record Fresh(NewTask task) implements Assignment {}

        /// An existing task.
        record Known(TaskId id) implements Assignment {}

        /// An attempt of the queue at one of its tasks.
        ///
        /// @param run   id of the new run, which the queue has stored
        /// @param check called in the transaction that stores the run. Throws if the attempt is over
        record Attempt(TaskId id, RunId run, Check check) implements Assignment {}
    }
}
