package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.NewWebhook;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookDelivery;
import dev.vivarium.model.WebhookId;
import java.util.List;

/// JSON form of webhooks and their deliveries. Stateless.
public final class WebhookJson {
    private static final JsonType<WebhookId> WEBHOOK_ID = STRING.as(WebhookId::new, WebhookId::value);
    private static final JsonType<DeliveryId> DELIVERY_ID = STRING.as(DeliveryId::new, DeliveryId::value);
    private static final JsonType<NewWebhook.Format> FORMAT =
            constants(NewWebhook.Format.class, NewWebhook.Format::text, "must be json or slack");

    public static final JsonType<WebhookDelivery.Status> STATUS = constants(WebhookDelivery.Status.class);

    /// A webhook, without its secret.
    public static final ObjectType<Webhook> WEBHOOK = object(
            "Webhook",
            field("webhook_id", WEBHOOK_ID, Webhook::id),
            optional("user_id", USER_ID, "The owner. Absent for a webhook of the admin.", Webhook::user),
            field("url", STRING, webhook -> webhook.wanted().url().toString()),
            field(
                    "event_types",
                    list(STRING),
                    "An empty list means all events.",
                    webhook -> webhook.wanted().eventTypes()),
            field("format", FORMAT, webhook -> webhook.wanted().format()),
            field("created_at", TIME, Webhook::createdAt));

    /// A delivery of one event.
    public static final ObjectType<WebhookDelivery> DELIVERY = object(
            "WebhookDelivery",
            field("delivery_id", DELIVERY_ID, WebhookDelivery::id),
            field("webhook_id", WEBHOOK_ID, WebhookDelivery::webhook),
            field("event_id", STRING, WebhookDelivery::eventId),
            field("event_type", STRING, WebhookDelivery::eventType),
            field("status", STATUS, "`dead`: the server gave up.", WebhookDelivery::status),
            field("attempts", INT, WebhookDelivery::attempts),
            optional("next_attempt_at", TIME, WebhookDelivery::nextAttemptAt),
            optional("response_status", INT, "The status of the last response.", WebhookDelivery::responseStatus),
            optional("error", STRING, "Why the last attempt failed.", WebhookDelivery::error),
            field("created_at", TIME, WebhookDelivery::createdAt),
            optional("ended_at", TIME, WebhookDelivery::endedAt));

    /// Request for a webhook, with its secret. Immutable.
    public record Request(NewWebhook webhook, String secret) {
        @Override
        public String toString() {
            return "Request[webhook=" + webhook + ", secret=***]";
        }
    }

    /// A webhook to add.
    public static final ObjectType<Request> NEW_WEBHOOK = ObjectType.<Request>object(
                    "NewWebhook",
                    field("url", STRING, "The receiver, `https` or `http`. Its address must be public."),
                    optional("event_types", list(STRING), """
                            Types, prefixes such as `task.`, or names such as `TASK_COMPLETED`, as in the feed. All \
                            events by default."""),
                    field("secret", STRING.length(8, 256), "The key of the signature. Responses do not contain it."),
                    optional("format", FORMAT, "`json` by default. `slack` sends a sentence as `{\"text\": …}`."))
            .readBy(WebhookJson::read)
            .closed();

    private WebhookJson() {}

    private static Request read(JsonFields fields) {
        return new Request(
                new NewWebhook(
                        NewWebhook.url(fields.string("url")),
                        fields.optionalStrings("event_types").orElse(List.of()),
                        fields.optional("format", FORMAT).orElse(NewWebhook.Format.JSON)),
                fields.string("secret"));
    }
}
