package dev.vivarium.server.api;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Descriptors;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.telemetry.Host;
import java.io.IOException;
import tools.jackson.core.JsonGenerator;

/// `GET /api/v1/node`: how the server and its machine are, and what a sandbox may be given, for whoever has a key.
/// Thread-safe.
public final class NodeHandler {
    private final HealthHandler.Node node;
    private final HealthChecks checks;
    private final Sandboxes sandboxes;
    private final Provider provider;
    private final SandboxRule rule;
    private final Host host;

    public NodeHandler(
            HealthHandler.Node node,
            HealthChecks checks,
            Sandboxes sandboxes,
            Provider provider,
            SandboxRule rule,
            Host host) {
        this.node = node;
        this.checks = checks;
        this.sandboxes = sandboxes;
        this.provider = provider;
        this.rule = rule;
        this.host = host;
    }

    /// Answers 200 however the server is: the question was answered.
    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var failing = checks.failing();
        var reading = host.read();
        exchange.answer(200, out -> {
            out.writeStringProperty("status", checks.status(failing));
            out.writeObjectPropertyStart("failing");
            failing.forEach(out::writeStringProperty);
            out.writeEndObject();
            out.writeStringProperty("version", node.version());
            out.writeStringProperty("store", node.store());
            out.writeStringProperty("image", node.image());
            out.writeObjectPropertyStart("provider");
            out.writeStringProperty("name", provider.name());
            out.writeBooleanProperty("isolates", provider.capabilities().isolates());
            out.writeEndObject();
            writeHouse(out);
            writeHost(out, reading);
            out.writeObjectPropertyStart("descriptors");
            out.writeNumberProperty("limit", Descriptors.limit());
            Descriptors.open().ifPresent(open -> out.writeNumberProperty("open", open));
            out.writeEndObject();
        });
    }

    private void writeHouse(JsonGenerator out) {
        var pool = sandboxes.pool();
        out.writeObjectPropertyStart("pool");
        out.writeNumberProperty("target", pool.target());
        out.writeNumberProperty("available", pool.available());
        out.writeEndObject();
        out.writeObjectPropertyStart("sandboxes");
        out.writeNumberProperty("active", pool.active());
        out.writeNumberProperty("most", pool.capacity());
        out.writeEndObject();
        SessionJson.writeLimits(out, rule.limits());
        out.writeNumberProperty("most_timeout_minutes", rule.mostIdle().toSeconds() / 60.0);
    }

    private static void writeHost(JsonGenerator out, Host.Reading reading) {
        out.writeObjectPropertyStart("host");
        out.writeNumberProperty("cpus", reading.cpus());
        if (reading.load() >= 0) {
            out.writeNumberProperty("load", reading.load());
        }
        out.writeNumberProperty("memory_bytes", reading.memory().bytes());
        out.writeNumberProperty("memory_free_bytes", reading.memory().free());
        out.writeNumberProperty("disk_bytes", reading.disk().bytes());
        out.writeNumberProperty("disk_free_bytes", reading.disk().free());
        out.writeEndObject();
    }
}
