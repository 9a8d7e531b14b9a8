package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.time.Duration;
import java.util.Optional;

/// When the queue starts a task, and when it stops trying. Immutable.
///
/// @param agentType    type of the agent, for limits and claims
/// @param runTimeout   limit of each attempt
/// @param queueTimeout limit of the time in the queue
/// @param maxRetries   number of attempts after the first one
public record TaskSchedule(
        TaskPriority priority,
        Optional<String> agentType,
        Duration runTimeout,
        Optional<Duration> queueTimeout,
        int maxRetries) {
    public static final Duration RUN_TIMEOUT = Duration.ofHours(1);
    public static final int RETRIES = 3;

    private static final Duration LONGEST = Duration.ofDays(366);
    private static final int MAX_RETRIES = 20;
    private static final int MAX_TYPE = 100;

    /// The last constant, because its check reads the others.
    public static final TaskSchedule DEFAULT =
            new TaskSchedule(TaskPriority.MEDIUM, Optional.empty(), RUN_TIMEOUT, Optional.empty(), RETRIES);

    public TaskSchedule {
        requireTime(runTimeout, "timeout_minutes");
        queueTimeout.ifPresent(time -> requireTime(time, "queue_timeout_minutes"));
        require(maxRetries >= 0 && maxRetries <= MAX_RETRIES, "max_retries", "must be 0 to " + MAX_RETRIES);
        agentType.ifPresent(type -> require(
                type.matches("[^\\p{Cntrl}]{1," + MAX_TYPE + "}"),
                "agent_type",
                "must be 1 to " + MAX_TYPE + " characters without control characters"));
    }

    private static void requireTime(Duration time, String field) {
        require(
                time.isPositive() && time.compareTo(LONGEST) <= 0,
                field,
                "must be above 0 and at most " + LONGEST.toMinutes());
    }
}
