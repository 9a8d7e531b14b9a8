package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.webhook.DeliveryFilter;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.WebhookJson;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookDelivery;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.UserWebhooks;
import java.io.IOException;
import java.util.List;

/// `/api/v1/webhooks`: webhooks and their deliveries. Thread-safe.
public final class WebhooksHandler {
    private static final int MAX_PAGE = 1000;

    private static final ObjectType<List<Webhook>> WEBHOOKS =
            object("Webhooks", field("webhooks", JsonType.list(WebhookJson.WEBHOOK), webhooks -> webhooks));

    private static final ObjectType<ListPage<WebhookDelivery>> DELIVERY_PAGE =
            ListPage.type("WebhookDeliveries", "deliveries", WebhookJson.DELIVERY);

    public static final RouteDescription ADD = RouteDescription.post("/api/v1/webhooks", KEY)
            .named("addWebhook", "Send events to a URL")
            .text("""
                    The server posts each event that the caller may see and that matches `event_types`, at least once. \
                    The header `Vivarium-Signature` has the HMAC-SHA-256 of the time and the body.""")
            .takes(WebhookJson.NEW_WEBHOOK)
            .answers(201, "The webhook.", WebhookJson.WEBHOOK)
            .fails(409, 422);

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/webhooks", KEY)
            .named("listWebhooks", "List webhooks, oldest first")
            .answers(200, "The webhooks of the caller, or of all users for the admin.", WEBHOOKS);

    public static final RouteDescription GET = RouteDescription.get("/api/v1/webhooks/{webhook_id}", KEY)
            .named("getWebhook", "Find a webhook")
            .answers(200, "The webhook.", WebhookJson.WEBHOOK)
            .fails(404);

    public static final RouteDescription DELETE = RouteDescription.delete("/api/v1/webhooks/{webhook_id}", KEY)
            .named("deleteWebhook", "Delete a webhook and its deliveries")
            .answers(204, "The webhook was deleted.")
            .fails(404);

    public static final RouteDescription DELIVERIES = RouteDescription.get(
                    "/api/v1/webhooks/{webhook_id}/deliveries", KEY)
            .named("listDeliveries", "List the deliveries of a webhook, newest first")
            .query("status", WebhookJson.STATUS, "Only deliveries with this status; `dead` for those given up.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .query("cursor", STRING, ListPage.CURSOR_TEXT)
            .answers(200, "A page of deliveries.", DELIVERY_PAGE)
            .fails(404);

    public static final RouteDescription TEST = RouteDescription.post("/api/v1/webhooks/{webhook_id}/test", KEY)
            .named("testWebhook", "Send a test event to the receiver")
            .text("""
                    Sends an event of the type `webhook.test`, whatever `event_types` are. `GET …/deliveries` has the \
                    outcome.""")
            .answers(202, "The delivery.", WebhookJson.DELIVERY)
            .fails(404);

    public static final RouteDescription REPLAY = RouteDescription.post(
                    "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", KEY)
            .named("replayDelivery", "Send a delivery again")
            .text("The request body is the same as before. The signature has the current time.")
            .answers(202, "The delivery.", WebhookJson.DELIVERY)
            .fails(404);

    private final UserWebhooks webhooks;

    public WebhooksHandler(UserWebhooks webhooks) {
        this.webhooks = webhooks;
    }

    public void add(Exchange exchange) throws IOException {
        var request = exchange.json(WebhookJson.NEW_WEBHOOK);
        exchange.answer(
                201, WebhookJson.WEBHOOK, webhooks.add(exchange.principal(), request.webhook(), request.secret()));
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, WEBHOOKS, webhooks.list(exchange.principal()));
    }

    public void get(Exchange exchange) throws IOException {
        exchange.answer(200, WebhookJson.WEBHOOK, webhooks.get(exchange.principal(), exchange.path("webhook_id")));
    }

    public void delete(Exchange exchange) throws IOException {
        webhooks.delete(exchange.principal(), exchange.path("webhook_id"));
        exchange.answer(204);
    }

    public void deliveries(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var found = webhooks.deliveries(
                exchange.principal(),
                exchange.path("webhook_id"),
                new DeliveryFilter(
                        exchange.optionalQuery("status", WebhookJson.STATUS), PageQuery.cursor(exchange), limit + 1));
        exchange.answer(200, DELIVERY_PAGE, ListPage.of(found, limit, DeliveryFilter::place));
    }

    public void test(Exchange exchange) throws IOException {
        exchange.answer(202, WebhookJson.DELIVERY, webhooks.test(exchange.principal(), exchange.path("webhook_id")));
    }

    public void replay(Exchange exchange) throws IOException {
        exchange.answer(
                202,
                WebhookJson.DELIVERY,
                webhooks.replay(exchange.principal(), exchange.path("webhook_id"), exchange.path("delivery_id")));
    }
}
