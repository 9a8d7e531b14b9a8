package dev.vivarium.model;

/// Id of an event log: that of a sandbox, or that of the tasks of a user. Immutable.
public sealed interface LogId permits SandboxId, TaskLog {
    String value();

    /// Returns the id of a log from its text.
    static LogId of(String text) {
        return text.startsWith(TaskLog.PREFIX)
                ? new TaskLog(new UserId(text.substring(TaskLog.PREFIX.length())))
                : new SandboxId(text);
    }
}
