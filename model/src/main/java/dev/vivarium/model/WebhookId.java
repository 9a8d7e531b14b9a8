package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a webhook: `whk` and twenty characters of `[a-z0-9]`. Immutable.
public record WebhookId(String value) {
    private static final IdShape SHAPE = new IdShape("webhook_id", "whk");

    public WebhookId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static WebhookId random(RandomGenerator random) {
        return new WebhookId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
