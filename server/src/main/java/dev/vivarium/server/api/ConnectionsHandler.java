package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.Json;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Presence;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `GET /threads/{thread_id}/connections`: who is at the thread's sandbox now. Everybody who was invited sees the
/// others. Thread-safe.
public final class ConnectionsHandler {
    private final ThreadCallers callers;
    private final Sandboxes sandboxes;
    private final Presence presence;

    public ConnectionsHandler(ThreadCallers callers, Sandboxes sandboxes, Presence presence) {
        this.callers = callers;
        this.sandboxes = sandboxes;
        this.presence = presence;
    }

    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = callers.require(exchange).thread();
        Optional<Sandbox> sandbox = sandboxes.find(thread);
        List<Presence.Connection> connections =
                sandbox.map(found -> presence.at(found.id())).orElse(List.of());
        exchange.answer(200, out -> {
            sandbox.ifPresent(
                    found -> out.writeStringProperty("sandbox_id", found.id().value()));
            out.writeArrayPropertyStart("connections");
            connections.forEach(connection -> write(out, connection));
            out.writeEndArray();
        });
    }

    private static void write(JsonGenerator out, Presence.Connection connection) {
        out.writeStartObject();
        out.writeStringProperty("user_id", connection.user().value());
        connection.token().ifPresent(jti -> out.writeStringProperty("jti", jti));
        out.writeStringProperty("way", connection.way().text());
        Json.time(out, "since", connection.since());
        out.writeEndObject();
    }
}
