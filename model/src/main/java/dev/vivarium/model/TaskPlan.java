package dev.vivarium.model;

import java.math.BigDecimal;
import java.util.Optional;

/// How the server runs a task of the queue. Immutable.
///
/// @param program    absent if a worker outside of the server claims the task
/// @param guardian   policy of the runs, if it is not that of the server
/// @param repository git repository that the agent works on
/// @param inherit    what the task takes over from a task that it depends on
/// @param race       attempts that run at the same time
public record TaskPlan(
        Optional<Run.Program> program,
        TaskSchedule schedule,
        TaskSandbox sandbox,
        Optional<BigDecimal> budgetUsd,
        Optional<GuardianPolicy> guardian,
        Optional<Repository> repository,
        Optional<Inherit> inherit,
        Optional<Race> race) {
    /// A plan with defaults, for a worker outside of the server or with a program.
    public static TaskPlan of(Optional<Run.Program> program) {
        return new TaskPlan(
                program,
                TaskSchedule.DEFAULT,
                TaskSandbox.DEFAULT,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    public TaskPlan with(TaskSchedule other) {
        return new TaskPlan(program, other, sandbox, budgetUsd, guardian, repository, inherit, race);
    }

    /// Returns the plan with another repository.
    public TaskPlan withRepository(Optional<Repository> other) {
        return new TaskPlan(program, schedule, sandbox, budgetUsd, guardian, other, inherit, race);
    }

    public TaskPlan withBudget(BigDecimal dollars) {
        return new TaskPlan(program, schedule, sandbox, Optional.of(dollars), guardian, repository, inherit, race);
    }

    public TaskPlan with(Inherit wanted) {
        return new TaskPlan(program, schedule, sandbox, budgetUsd, guardian, repository, Optional.of(wanted), race);
    }

    public TaskPlan with(Race wanted) {
        return new TaskPlan(program, schedule, sandbox, budgetUsd, guardian, repository, inherit, Optional.of(wanted));
    }

    /// Returns the number of attempts that run at the same time.
    public int lanes() {
        return race.map(Race::attempts).orElse(1);
    }
}
