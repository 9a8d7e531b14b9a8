package dev.vivarium.model;

/// Id of the log of the tasks of a user. A task has events before it has a sandbox. Immutable.
public record TaskLog(UserId owner) implements LogId {
    static final String PREFIX = "tasks:";

    @Override
    public String value() {
        return PREFIX + owner;
    }

    @Override
    public String toString() {
        return value();
    }
}
