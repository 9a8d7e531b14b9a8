package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// The name of one sandbox: `sbx` and twenty characters of `[a-z0-9]`. Immutable.
public record SandboxId(String value) {
    private static final IdShape SHAPE = new IdShape("session_id", "sbx");

    public SandboxId {
        SHAPE.require(value);
    }

    /// A new id that nobody can guess; `random` must be a secure source outside tests.
    public static SandboxId random(RandomGenerator random) {
        return new SandboxId(SHAPE.random(random));
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
