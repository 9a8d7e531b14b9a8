package dev.vivarium.server.settings;

import java.time.Duration;

/// Settings of webhooks and of the health of the queue. Immutable.
///
/// @param receivers      addresses that webhooks may use
/// @param attempts       requests after which the server gives up a delivery
/// @param webhookTimeout deadline of one request
/// @param healthEvery    interval of the figures about the queue
public record NotificationConfig(Receivers receivers, int attempts, Duration webhookTimeout, Duration healthEvery) {
    /// Name of the setting for errors.
    public static final String ALLOW_PRIVATE = "webhook-allow-private";

    /// Addresses that the receivers of webhooks may have.
    public enum Receivers {
        PUBLIC,
        ALL
    }

    static NotificationConfig of(Settings settings) {
        return new NotificationConfig(
                settings.get(Catalogue.WEBHOOK_ALLOW_PRIVATE) ? Receivers.ALL : Receivers.PUBLIC,
                settings.get(Catalogue.WEBHOOK_ATTEMPTS),
                settings.get(Catalogue.WEBHOOK_TIMEOUT),
                settings.get(Catalogue.HEALTH_EVERY));
    }
}
