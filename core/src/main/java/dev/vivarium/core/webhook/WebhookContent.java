package dev.vivarium.core.webhook;

import dev.vivarium.core.log.EventTypes;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import dev.vivarium.model.Webhook;
import java.util.Optional;

/// Decides which events a webhook gets, and in which form. Must be thread-safe.
public interface WebhookContent {
    /// Returns a selection that contains all events for a webhook. Fails with `InvalidRequest` if the types of the
    /// webhook are invalid.
    EventTypes types(Webhook webhook);

    /// Returns the request body for an event. Empty if the event is not for the webhook, or if the owner may not
    /// see it.
    Optional<String> body(Webhook webhook, Event event);

    /// Returns the request body for an event, also if the event is not for the webhook.
    String form(Webhook webhook, Event event);

    /// Reports whether the owner of a webhook may see the events of a log now.
    boolean maySee(Webhook webhook, LogId logId);
}
