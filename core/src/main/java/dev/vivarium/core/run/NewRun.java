package dev.vivarium.core.run;

import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.math.BigDecimal;
import java.util.Optional;

/// A request for an agent: at what task, made of what, and in which sandbox. Immutable.
///
/// @param resumeFrom the sandbox of a run whose conversation this one goes on with
public record NewRun(
        Assignment task,
        Run.Program program,
        NewSandbox sandbox,
        Optional<BigDecimal> budgetUsd,
        Optional<SandboxId> resumeFrom) {
    /// What the agent is to do.
    public sealed interface Assignment {
        /// A task that is told now.
        record Fresh(NewTask task) implements Assignment {}

        /// A task that is known.
        record Known(TaskId id) implements Assignment {}
    }
}
