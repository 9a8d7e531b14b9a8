package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a shell in a sandbox: `shl` and twenty characters of `[a-z0-9]`. Immutable.
public record ShellId(String value) {
    private static final IdShape SHAPE = new IdShape("session_id", "shl");

    public ShellId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static ShellId random(RandomGenerator random) {
        return new ShellId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
