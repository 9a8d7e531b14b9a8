package dev.vivarium.core.task;

import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Task;
import dev.vivarium.model.UserId;
import java.util.Comparator;
import java.util.Optional;

/// Filter for a list of tasks of the queue, newest first. Immutable.
///
/// @param before position of the last task of the previous page
public record TaskFilter(
        Optional<UserId> owner,
        Optional<Task.Status> status,
        Optional<String> agentType,
        Optional<Place> before,
        int limit) {
    /// Oldest first.
    static final Comparator<QueuedTask> ORDER = Comparator.comparing(
                    (QueuedTask entry) -> entry.task().createdAt())
            .thenComparing(entry -> entry.task().id().value());

    /// Position of a task in a list.
    public record Place(long millis, String task) {
        public static Place of(QueuedTask entry) {
            return new Place(
                    entry.task().createdAt().toEpochMilli(), entry.task().id().value());
        }
    }
}
