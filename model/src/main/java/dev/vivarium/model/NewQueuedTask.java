package dev.vivarium.model;

import java.util.List;
import java.util.Optional;

/// Task for the queue. Immutable.
///
/// @param name      name within the graph that the task is added with
/// @param dependsOn names of tasks of the same graph, or ids of tasks in the queue
public record NewQueuedTask(Optional<String> name, NewTask task, TaskPlan plan, List<String> dependsOn) {
    public NewQueuedTask {
        dependsOn = List.copyOf(dependsOn);
    }
}
