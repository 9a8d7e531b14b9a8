package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// The name of one review: `rev` and twenty characters of `[a-z0-9]`. Immutable.
public record ReviewId(String value) {
    private static final IdShape SHAPE = new IdShape("review_id", "rev");

    public ReviewId {
        SHAPE.require(value);
    }

    /// A new id that nobody can guess; `random` must be a secure source outside tests.
    public static ReviewId random(RandomGenerator random) {
        return new ReviewId(SHAPE.random(random));
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
