package dev.vivarium.server.api;

import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `GET /`: tells whoever comes by where to look. Thread-safe.
public final class WelcomeHandler {
    public void handle(Exchange exchange) throws IOException {
        exchange.answer(200, out -> {
            out.writeStringProperty("name", "vivarium");
            out.writeStringProperty("description", "A self-hosted sandbox server for AI agents.");
            out.writeStringProperty("openapi", "/openapi.json");
            out.writeStringProperty("health", "/health");
        });
    }
}
