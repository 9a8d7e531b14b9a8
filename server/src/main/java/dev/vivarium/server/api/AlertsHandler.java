package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.AlertJson;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Alert;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.UserAlerts;
import java.io.IOException;
import java.util.List;

/// `/api/v1/alerts`: events that may need a person. Thread-safe.
public final class AlertsHandler {
    private static final int MAX_PAGE = 1000;

    private static final ObjectType<List<Alert>> ALERTS =
            object("Alerts", field("alerts", JsonType.list(AlertJson.ALERT), alerts -> alerts));

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/alerts", KEY)
            .named("listAlerts", "List alerts, oldest first")
            .text("""
                    Without `after`, the response has the newest alerts. With `after`, it has the first ones after that \
                    alert. An empty page is the last.""")
            .query("after", STRING, "The last `alert_id` that the client received.")
            .query("severity", AlertJson.SEVERITY, "Only alerts with this severity.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "A page of alerts.", ALERTS);

    public static final RouteDescription ACKNOWLEDGE = RouteDescription.post(
                    "/api/v1/alerts/{alert_id}/acknowledge", KEY)
            .named("acknowledgeAlert", "Mark an alert as seen")
            .text("The first acknowledgement counts.")
            .answers(200, "The alert.", AlertJson.ALERT)
            .fails(404);

    private final UserAlerts alerts;

    public AlertsHandler(UserAlerts alerts) {
        this.alerts = alerts;
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(
                200,
                ALERTS,
                alerts.list(
                        exchange.principal(),
                        exchange.optionalQuery("after"),
                        exchange.optionalQuery("severity", AlertJson.SEVERITY),
                        PageQuery.limit(exchange, MAX_PAGE)));
    }

    public void acknowledge(Exchange exchange) throws IOException {
        exchange.answer(200, AlertJson.ALERT, alerts.acknowledge(exchange.principal(), exchange.path("alert_id")));
    }
}
