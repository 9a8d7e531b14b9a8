package dev.vivarium.core.webhook;

import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.LogId;
import dev.vivarium.model.WebhookId;

/// Delivery that is due, with its content. Immutable.
///
/// @param attempts number of earlier attempts
record Delivery(DeliveryId id, WebhookId webhook, LogId logId, String eventType, String body, int attempts) {}
