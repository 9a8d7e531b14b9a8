package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.server.http.Route.Access.OPEN;

import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.io.InputStream;

/// `GET /openapi.json`: the OpenAPI document. A test compares it with the routes and their responses. Thread-safe.
public final class OpenApiHandler {
    public static final RouteDescription DOCUMENT = RouteDescription.get("/openapi.json", OPEN)
            .named("openapi", "Return this document")
            .answers(200, "An OpenAPI 3.1 document.", RAW_OBJECT);

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
