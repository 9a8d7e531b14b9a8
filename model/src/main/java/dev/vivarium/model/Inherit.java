package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

/// Part of the work of a dependency that a task continues. Immutable.
///
/// @param from         name of a task of the same graph, or id of a task in the queue
/// @param files        whether the task starts on a fork of the disk
/// @param conversation whether the agent continues the conversation
public record Inherit(String from, boolean files, boolean conversation) {
    public Inherit {
        require(files || conversation, "inherit", "must have files or conversation, or both");
    }

    public Inherit withFrom(TaskId task) {
        return new Inherit(task.value(), files, conversation);
    }
}
