package dev.vivarium.server.api;

import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.io.InputStream;

/// `GET /openapi.json`: the description of this API, which a test holds against the routes and their answers.
/// Thread-safe.
public final class OpenApiHandler {
    private static final String RESOURCE = "openapi.json";

    public void handle(Exchange exchange) throws IOException {
        exchange.answer(200, "application/json", document());
    }

    static byte[] document() throws IOException {
        try (InputStream resource = OpenApiHandler.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException(RESOURCE + " is not in the program");
            }
            return resource.readAllBytes();
        }
    }
}
