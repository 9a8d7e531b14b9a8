package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a sandbox: `sbx` and twenty characters of `[a-z0-9]`. Immutable.
public record SandboxId(String value) implements LogId {
    private static final IdShape SHAPE = new IdShape("session_id", "sbx");

    public SandboxId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static SandboxId random(RandomGenerator random) {
        return new SandboxId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
