package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Events of tasks of the queue. Immutable.
public sealed interface TaskEvent extends EventBody {
    String PREFIX = "task.";

    /// The task has a new status, which is part of the type.
    ///
    /// @param reason        sentence for people
    /// @param nextAttemptAt time of the next attempt, for `retrying`
    record Changed(
            TaskId task,
            Task.Status status,
            String title,
            Optional<Integer> attempt,
            Optional<RunId> run,
            Optional<String> reason,
            Optional<TaskError.Kind> errorClass,
            Optional<Instant> nextAttemptAt)
            implements TaskEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Changed changed -> PREFIX + changed.status.text();
        };
    }
}
