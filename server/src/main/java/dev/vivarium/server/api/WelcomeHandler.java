package dev.vivarium.server.api;

import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `GET /`: shows browsers the console, if there is one, and tells others where to look. Thread-safe.
public final class WelcomeHandler {
    private final PagesHandler pages;

    public WelcomeHandler(PagesHandler pages) {
        this.pages = pages;
    }

    public void handle(Exchange exchange) throws IOException {
        if (pages.isWanted(exchange)) {
            pages.page(exchange);
            return;
        }
        exchange.answer(200, out -> {
            out.writeStringProperty("name", "vivarium");
            out.writeStringProperty("description", "A self-hosted sandbox server for AI agents.");
            out.writeStringProperty("openapi", "/openapi.json");
            out.writeStringProperty("health", "/health");
        });
    }
}
