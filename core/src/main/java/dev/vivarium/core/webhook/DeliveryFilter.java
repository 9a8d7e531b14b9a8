package dev.vivarium.core.webhook;

import dev.vivarium.model.ListPlace;
import dev.vivarium.model.WebhookDelivery;
import java.util.Optional;

/// Filter for the deliveries of a webhook, newest first. Immutable.
///
/// @param before place after which the page begins
public record DeliveryFilter(Optional<WebhookDelivery.Status> status, Optional<ListPlace> before, int limit) {
    /// Returns the position of a delivery in the list.
    public static ListPlace place(WebhookDelivery delivery) {
        return ListPlace.of(delivery.createdAt(), delivery.id().value());
    }
}
