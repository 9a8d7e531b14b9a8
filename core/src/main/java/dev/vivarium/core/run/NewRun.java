package dev.vivarium.core.run;

import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.math.BigDecimal;
import java.util.Optional;

/// Request to start an agent. Immutable.
///
/// @param resumeFrom sandbox of the run whose conversation the new run continues
public record NewRun(
        Assignment task,
        Run.Program program,
        NewSandbox sandbox,
        Optional<BigDecimal> budgetUsd,
        Optional<SandboxId> resumeFrom) {
    /// Task of the agent.
    public sealed interface Assignment {
        /// A new task.
        record Fresh(NewTask task) implements Assignment {}

        /// An existing task.
        record Known(TaskId id) implements Assignment {}
    }
}
