package dev.vivarium.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Task of the queue with its plan, dependencies and attempts. Immutable.
///
/// @param attempts      oldest first
/// @param nextAttemptAt present while the status is `retrying`
public record QueuedTask(
        Task task, TaskPlan plan, List<TaskId> dependsOn, List<TaskAttempt> attempts, Optional<Instant> nextAttemptAt) {
    public QueuedTask {
        dependsOn = List.copyOf(dependsOn);
        attempts = List.copyOf(attempts);
    }

    /// Returns the sandbox of the completed attempt, or else of the newest one.
    public Optional<SandboxId> sandbox() {
        return attempts.stream()
                .filter(attempt -> attempt.status() == TaskAttempt.Status.COMPLETED)
                .findFirst()
                .or(() -> attempts.isEmpty() ? Optional.empty() : Optional.of(attempts.getLast()))
                .flatMap(TaskAttempt::sandbox);
    }

    /// Returns the cost of all attempts.
    public BigDecimal costUsd() {
        return attempts.stream().map(TaskAttempt::costUsd).reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}
