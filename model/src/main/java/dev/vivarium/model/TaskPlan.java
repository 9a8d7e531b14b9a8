package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// How the server runs a task of the queue. Immutable.
///
/// @param program      absent if a worker outside of the server claims the task
/// @param agentType    type of the agent, for limits and claims
/// @param runTimeout   limit of each attempt
/// @param queueTimeout limit of the time in the queue
/// @param maxRetries   number of attempts after the first one
/// @param guardian     policy of the runs, if it is not that of the server
/// @param repository   git repository that the agent works on
/// @param inherit      what the task takes over from a task that it depends on
/// @param race         attempts that run at the same time
public record TaskPlan(
        Optional<Run.Program> program,
        TaskPriority priority,
        Optional<String> agentType,
        Duration runTimeout,
        Optional<Duration> queueTimeout,
        int maxRetries,
        Optional<BigDecimal> budgetUsd,
        Map<String, String> env,
        Optional<Limits> limits,
        Optional<Egress> egress,
        Optional<String> image,
        Optional<GuardianPolicy> guardian,
        Optional<Repository> repository,
        Optional<Inherit> inherit,
        Optional<Race> race) {
    public static final Duration RUN_TIMEOUT = Duration.ofHours(1);
    public static final int RETRIES = 3;

    private static final Duration LONGEST = Duration.ofDays(366);
    private static final int MOST_RETRIES = 20;
    private static final int MAX_TYPE = 100;

    public TaskPlan {
        env = Map.copyOf(env);
        requireTime(runTimeout, "timeout_minutes");
        queueTimeout.ifPresent(time -> requireTime(time, "queue_timeout_minutes"));
        require(maxRetries >= 0 && maxRetries <= MOST_RETRIES, "max_retries", "must be 0 to " + MOST_RETRIES);
        agentType.ifPresent(type -> require(
                type.matches("[^\\p{Cntrl}]{1," + MAX_TYPE + "}"),
                "agent_type",
                "must be 1 to " + MAX_TYPE + " characters without control characters"));
    }

    /// A plan with defaults, for a worker outside of the server or with a program.
    public static TaskPlan of(Optional<Run.Program> program) {
        return new TaskPlan(
                program,
                TaskPriority.MEDIUM,
                Optional.empty(),
                RUN_TIMEOUT,
                Optional.empty(),
                RETRIES,
                Optional.empty(),
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static void requireTime(Duration time, String field) {
        require(
                time.isPositive() && time.compareTo(LONGEST) <= 0,
                field,
                "must be above 0 and at most " + LONGEST.toMinutes());
    }

    /// Returns the plan with other settings of the queue.
    public TaskPlan with(TaskPriority other, Duration run, Optional<Duration> queue, int retries) {
        return new TaskPlan(
                program,
                other,
                agentType,
                run,
                queue,
                retries,
                budgetUsd,
                env,
                limits,
                egress,
                image,
                guardian,
                repository,
                inherit,
                race);
    }

    /// Returns the plan with another repository.
    public TaskPlan withRepository(Optional<Repository> other) {
        return new TaskPlan(
                program,
                priority,
                agentType,
                runTimeout,
                queueTimeout,
                maxRetries,
                budgetUsd,
                env,
                limits,
                egress,
                image,
                guardian,
                other,
                inherit,
                race);
    }

    public TaskPlan withBudget(BigDecimal dollars) {
        return new TaskPlan(
                program,
                priority,
                agentType,
                runTimeout,
                queueTimeout,
                maxRetries,
                Optional.of(dollars),
                env,
                limits,
                egress,
                image,
                guardian,
                repository,
                inherit,
                race);
    }

    public TaskPlan with(Inherit wanted) {
        return new TaskPlan(
                program,
                priority,
                agentType,
                runTimeout,
                queueTimeout,
                maxRetries,
                budgetUsd,
                env,
                limits,
                egress,
                image,
                guardian,
                repository,
                Optional.of(wanted),
                race);
    }

    public TaskPlan with(Race wanted) {
        return new TaskPlan(
                program,
                priority,
                agentType,
                runTimeout,
                queueTimeout,
                maxRetries,
                budgetUsd,
                env,
                limits,
                egress,
                image,
                guardian,
                repository,
                inherit,
                Optional.of(wanted));
    }

    /// Returns the number of attempts that run at the same time.
    public int lanes() {
        return race.map(Race::attempts).orElse(1);
    }

    /// Returns the request for the sandbox of an attempt.
    public NewSandbox sandbox(ThreadKey key) {
        return new NewSandbox(
                key.user(), key.thread(), Optional.empty(), limits, env, egress, image, Optional.of(OnIdle.END));
    }
}
