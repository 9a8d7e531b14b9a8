package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a review: `rev` and twenty characters of `[a-z0-9]`. Immutable.
public record ReviewId(String value) {
    private static final IdShape SHAPE = new IdShape("review_id", "rev");

    public ReviewId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static ReviewId random(RandomGenerator random) {
        return new ReviewId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
