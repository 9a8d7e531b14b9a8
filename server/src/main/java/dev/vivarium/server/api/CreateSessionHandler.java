package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.CreateSandbox;
import java.io.IOException;

/// `POST /create_session`: 201 with a new sandbox, or 409 with the existing sandbox of the thread. Thread-safe.
public final class CreateSessionHandler {
    public static final RouteDescription CREATE_SESSION = RouteDescription.post("/create_session", KEY)
            .named("createSession", "Create a sandbox for a thread")
            .takes(SessionJson.CREATE)
            .answers(201, "The sandbox was created.", SessionJson.SESSION)
            .answers(409, "The thread already has a sandbox. The response describes it.", SessionJson.SESSION)
            .fails(403, 404, 500, 507);

    private final CreateSandbox create;

    public CreateSessionHandler(CreateSandbox create) {
        this.create = create;
    }

    public void handle(Exchange exchange) throws IOException {
        var user = exchange.principal().user();
        var request =
                SessionJson.readRequest(exchange.json(), user, create.rule().limits());
        exchange.concerns(request.key());
        var result = create.create(exchange.principal(), request);
        exchange.concerns(result.sandbox());
        var found = result.created() ? SessionJson.Found.CREATED : SessionJson.Found.EXISTING;
        exchange.answer(
                result.created() ? 201 : 409, SessionJson.SESSION, new SessionJson.Session(result.sandbox(), found));
    }
}
