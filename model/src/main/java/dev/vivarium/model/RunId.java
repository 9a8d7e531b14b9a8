package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// The name of one run: `run` and twenty characters of `[a-z0-9]`. Immutable.
public record RunId(String value) {
    private static final IdShape SHAPE = new IdShape("run_id", "run");

    public RunId {
        SHAPE.require(value);
    }

    /// A new id that nobody can guess; `random` must be a secure source outside tests.
    public static RunId random(RandomGenerator random) {
        return new RunId(SHAPE.random(random));
    }

    @Override
    public String toString() {
        return value;
    }
}
