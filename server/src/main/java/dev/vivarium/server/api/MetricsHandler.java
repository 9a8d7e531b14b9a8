package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.telemetry.Metrics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// `GET /metrics`: the metrics in Prometheus's text format. Thread-safe.
public final class MetricsHandler {
    public static final RouteDescription METRICS = RouteDescription.get("/metrics", KEY)
            .named("metrics", "Export metrics for Prometheus")
            .anyQuery()
            .answers(200, "Metrics in the text format of Prometheus.", "text/plain", STRING);

    private final Metrics metrics;

    public MetricsHandler(Metrics metrics) {
        this.metrics = metrics;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.answer(
                200, "text/plain; version=0.0.4; charset=utf-8", metrics.text().getBytes(StandardCharsets.UTF_8));
    }
}
