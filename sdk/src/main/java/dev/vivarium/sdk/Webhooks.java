package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Subscriptions of HTTP receivers to events. Thread-safe.
public final class Webhooks {
    private static final String PATH = "/api/v1/webhooks";

    private final Transport transport;

    Webhooks(Transport transport) {
        this.transport = transport;
    }

    /// Form of the body that a receiver gets.
    public enum Format implements TextEnum {
        /// The event.
        JSON,
        /// A sentence that Slack shows.
        SLACK
    }

    /// Request for a webhook. Immutable.
    ///
    /// @param url        the receiver
    /// @param eventTypes types, or prefixes that end with a dot; empty for all events
    /// @param secret     key of the signature of each delivery
    public record NewWebhook(String url, List<String> eventTypes, String secret, Format format) {
        public NewWebhook {
            eventTypes = List.copyOf(eventTypes);
        }

        private void write(JsonGenerator out) {
            out.writeStringProperty("url", url);
            if (!eventTypes.isEmpty()) {
                out.writeArrayPropertyStart("event_types");
                eventTypes.forEach(out::writeString);
                out.writeEndArray();
            }
            out.writeStringProperty("secret", secret);
            out.writeStringProperty("format", format.text());
        }

        @Override
        public String toString() {
            return "NewWebhook[" + url + ", " + eventTypes + ", ***, " + format + "]";
        }
    }

    /// A webhook without its secret. Immutable.
    ///
    /// @param json the object that the server sent, with the members that this version does not know
    public record WebhookRecord(
            String id, String url, List<String> eventTypes, String format, Instant createdAt, String json) {
        public WebhookRecord {
            eventTypes = List.copyOf(eventTypes);
        }

        private static WebhookRecord read(JsonFields fields) {
            return new WebhookRecord(
                    fields.string("webhook_id"),
                    fields.string("url"),
                    fields.findStrings("event_types").orElse(List.of()),
                    fields.string("format"),
                    fields.time("created_at"),
                    fields.text());
        }
    }

    /// A delivery of one event. Immutable.
    ///
    /// @param status         `pending`, `delivered` or `dead`
    /// @param responseStatus HTTP status of the last response
    /// @param error          why the last attempt failed
    /// @param json           the object that the server sent
    public record DeliveryRecord(
            String id,
            String eventType,
            String status,
            long attempts,
            Optional<Instant> nextAttemptAt,
            Optional<Long> responseStatus,
            Optional<String> error,
            Instant createdAt,
            String json) {
        private static DeliveryRecord read(JsonFields fields) {
            return new DeliveryRecord(
                    fields.string("delivery_id"),
                    fields.string("event_type"),
                    fields.string("status"),
                    fields.integer("attempts"),
                    fields.optionalTime("next_attempt_at"),
                    fields.optionalInteger("response_status"),
                    fields.optionalString("error"),
                    fields.time("created_at"),
                    fields.text());
        }
    }

    public WebhookRecord add(NewWebhook request) {
        return transport.post(PATH, request::write, WebhookRecord::read);
    }

    public List<WebhookRecord> list() {
        return transport.get(
                PATH,
                fields -> fields.objects("webhooks").stream()
                        .map(WebhookRecord::read)
                        .toList());
    }

    public WebhookRecord get(String webhook) {
        return transport.get(path(webhook), WebhookRecord::read);
    }

    /// Deletes the webhook with its pending deliveries.
    public void remove(String webhook) {
        transport.delete(path(webhook));
    }

    /// The newest deliveries.
    ///
    /// @param status only deliveries with this status
    public List<DeliveryRecord> deliveries(String webhook, Optional<String> status, int limit) {
        return transport.get(
                path(webhook) + "/deliveries?limit=" + limit
                        + status.map(wanted -> "&status=" + Transport.segment(wanted))
                                .orElse(""),
                fields -> fields.objects("deliveries").stream()
                        .map(DeliveryRecord::read)
                        .toList());
    }

    /// Sends an event of the type `webhook.test`.
    public DeliveryRecord test(String webhook) {
        return transport.post(path(webhook) + "/test", out -> {}, DeliveryRecord::read);
    }

    /// Sends the event of a delivery again.
    public DeliveryRecord replay(String webhook, String delivery) {
        return transport.post(
                path(webhook) + "/deliveries/" + Transport.segment(delivery) + "/replay",
                out -> {},
                DeliveryRecord::read);
    }

    private static String path(String webhook) {
        return PATH + "/" + Transport.segment(webhook);
    }
}
