package dev.vivarium.core.task;

import dev.vivarium.model.ListPlace;
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
        Optional<ListPlace> before,
        int limit) {
    /// Oldest first.
    static final Comparator<QueuedTask> ORDER = Comparator.comparing(
                    (QueuedTask entry) -> entry.task().createdAt())
            .thenComparing(entry -> entry.task().id().value());

    /// Returns the position of a task in a list.
    public static ListPlace place(QueuedTask entry) {
        return ListPlace.of(entry.task().createdAt(), entry.task().id().value());
    }
}
