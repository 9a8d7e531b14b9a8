package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Delivery of one event to one webhook. Immutable.
///
/// @param attempts       number of requests so far
/// @param nextAttemptAt  present while the status is `pending`
/// @param responseStatus HTTP status of the last response
/// @param error          why the last attempt failed
/// @param endedAt        time at which the delivery succeeded, or failed for the last time
public record WebhookDelivery(
        DeliveryId id,
        WebhookId webhook,
        String eventId,
        String eventType,
        Status status,
        int attempts,
        Optional<Instant> nextAttemptAt,
        Optional<Integer> responseStatus,
        Optional<String> error,
        Instant createdAt,
        Optional<Instant> endedAt) {
    /// Status of a delivery.
    public enum Status implements TextEnum {
        PENDING,
        /// The receiver answered with a status of 200 to 299.
        DELIVERED,
        /// The server gave up. A client can replay the delivery.
        DEAD
    }
}
