package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a task: `tsk` and twenty characters of `[a-z0-9]`. Immutable.
public record TaskId(String value) {
    private static final IdShape SHAPE = new IdShape("task_id", "tsk");

    public TaskId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static TaskId random(RandomGenerator random) {
        return new TaskId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
