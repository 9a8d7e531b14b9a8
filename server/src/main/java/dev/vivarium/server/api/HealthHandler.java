package dev.vivarium.server.api;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import tools.jackson.core.JsonGenerator;

/// `GET /health`: state of the server, for load balancers and people. Open to all, so the answer holds nothing about
/// sessions but their number. Waits for no other thread: it is served by a platform thread and answers when the rest of
/// the server does not. Thread-safe.
public final class HealthHandler {
    private final Node node;
    private final Sandboxes sandboxes;
    private final Provider provider;
    private final HealthChecks checks;
    private final InstantSource clock;
    private final Instant started;

    public HealthHandler(Node node, Sandboxes sandboxes, Provider provider, HealthChecks checks, InstantSource clock) {
        this.node = node;
        this.sandboxes = sandboxes;
        this.provider = provider;
        this.checks = checks;
        this.clock = clock;
        this.started = clock.instant();
    }

    /// What this server is.
    public record Node(String workerId, String version, String image, String store) {}

    public void handle(Exchange exchange) throws IOException {
        var failing = checks.failing();
        // Without a second request on the connection, the answer always fits into the buffer of its socket.
        exchange.answerHeader("Connection", "close");
        exchange.answer(failing.isEmpty() ? 200 : 503, out -> {
            out.writeStringProperty("status", checks.status(failing));
            if (!failing.isEmpty()) {
                out.writeObjectPropertyStart("failing");
                failing.forEach(out::writeStringProperty);
                out.writeEndObject();
            }
            write(out);
        });
    }

    private void write(JsonGenerator out) {
        var pool = sandboxes.pool();
        var capabilities = provider.capabilities();
        out.writeStringProperty("worker_id", node.workerId());
        out.writeStringProperty("version", node.version());
        out.writeNumberProperty("pool_size", pool.target());
        out.writeNumberProperty("pool_available", pool.available());
        out.writeNumberProperty("active_sessions", pool.active());
        out.writeNumberProperty("max_sessions", pool.capacity());
        out.writeNumberProperty(
                "uptime_seconds", Duration.between(started, clock.instant()).toSeconds());
        out.writeBooleanProperty("redis_connected", false);
        out.writeStringProperty("store", node.store());
        out.writeStringProperty("bus", "memory");
        out.writeObjectPropertyStart("provider");
        out.writeStringProperty("name", provider.name());
        out.writeBooleanProperty("isolates", capabilities.isolates());
        out.writeStringProperty("isolation", capabilities.isolation());
        out.writeStringProperty("disk_limit", capabilities.diskLimit());
        out.writeStringProperty("snapshots", capabilities.snapshots());
        out.writeStringProperty("cgroups", capabilities.cgroups());
        out.writeEndObject();
        checks.writeDisk(out);
        out.writeStringProperty("image", node.image());
    }
}
