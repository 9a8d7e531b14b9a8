package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a delivery of a webhook: `whd` and twenty characters of `[a-z0-9]`. Immutable.
public record DeliveryId(String value) {
    private static final IdShape SHAPE = new IdShape("delivery_id", "whd");

    public DeliveryId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static DeliveryId random(RandomGenerator random) {
        return new DeliveryId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
