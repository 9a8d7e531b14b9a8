package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Task of an agent, with its status and result. Immutable.
///
/// @param reported status that the worker reported last
/// @param message  last message about the status
/// @param result   result of the agent, a JSON object as text
public record Task(
        TaskId id,
        UserId owner,
        NewTask wanted,
        Status status,
        Optional<Report> reported,
        Optional<String> message,
        Optional<String> result,
        Instant createdAt,
        Instant updatedAt) {
    public Task withResult(Optional<String> other) {
        return new Task(id, owner, wanted, status, reported, message, other, createdAt, updatedAt);
    }

    public Task withReport(Report report) {
        return new Task(id, owner, wanted, status, Optional.of(report), message, result, createdAt, updatedAt);
    }

    /// Status of a task. The last three are final until the task is retried.
    public enum Status implements TextEnum {
        /// Waits for other tasks, or for the start of its run.
        PENDING,
        /// In the queue.
        READY,
        /// Has an attempt whose run is being started.
        ASSIGNED,
        RUNNING,
        /// An attempt failed, and another follows.
        RETRYING,
        /// A task that it depends on failed or was cancelled.
        BLOCKED,
        COMPLETED,
        FAILED,
        CANCELLED
    }

    /// Status that a worker reports about its task.
    public enum Report implements TextEnum {
        PENDING,
        IN_PROGRESS,
        BLOCKED,
        COMPLETED,
        FAILED
    }
}
