package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a run: `run` and twenty characters of `[a-z0-9]`. Immutable.
public record RunId(String value) {
    private static final IdShape SHAPE = new IdShape("run_id", "run");

    public RunId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static RunId random(RandomGenerator random) {
        return new RunId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
