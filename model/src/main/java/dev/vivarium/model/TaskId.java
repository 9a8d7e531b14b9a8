package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// The name of one task: `tsk` and twenty characters of `[a-z0-9]`. Immutable.
public record TaskId(String value) {
    private static final IdShape SHAPE = new IdShape("task_id", "tsk");

    public TaskId {
        SHAPE.require(value);
    }

    /// A new id that nobody can guess; `random` must be a secure source outside tests.
    public static TaskId random(RandomGenerator random) {
        return new TaskId(SHAPE.random(random));
    }

    /// Reports whether `text` could be an id at all.
    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
