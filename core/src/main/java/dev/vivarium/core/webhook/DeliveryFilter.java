package dev.vivarium.core.webhook;

import dev.vivarium.model.WebhookDelivery;
import java.util.Optional;

/// Filter for the deliveries of a webhook, newest first. Immutable.
///
/// @param before place after which the page begins
public record DeliveryFilter(Optional<WebhookDelivery.Status> status, Optional<Place> before, int limit) {
    /// Place of a delivery in the list.
    public record Place(long millis, String delivery) {
        public static Place of(WebhookDelivery delivery) {
            return new Place(delivery.createdAt().toEpochMilli(), delivery.id().value());
        }
    }
}
