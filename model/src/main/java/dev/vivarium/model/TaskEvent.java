package dev.vivarium.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Events of tasks of the queue. Immutable.
public sealed interface TaskEvent extends EventBody {
    String PREFIX = "task.";
    String STUCK = "workflow.stuck";

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

    /// No task of a graph can move.
    ///
    /// @param lost       failed and cancelled tasks that others wait for
    /// @param waiting    number of tasks that cannot start
    /// @param diagnostic task that searches for the cause
    record Stuck(List<TaskId> lost, int waiting, String reason, Optional<TaskId> diagnostic) implements TaskEvent {
        public Stuck {
            lost = List.copyOf(lost);
        }
    }

    @Override
    default String type() {
        return switch (this) {
            case Changed changed -> PREFIX + changed.status.text();
            case Stuck _ -> STUCK;
        };
    }
}
