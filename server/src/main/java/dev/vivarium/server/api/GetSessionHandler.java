package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.SessionJson;
import dev.vivarium.model.ThreadId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.GetSandbox;
import java.io.IOException;

/// `GET /get_session`. Thread-safe.
public final class GetSessionHandler {
    public static final RouteDescription GET_SESSION = RouteDescription.get(
                    "/get_session", KEY, "getSession", "Find the sandbox of a thread")
            .text("This call does not extend the lifetime of the session.")
            .requiredQuery("thread_id", "")
            .answers(200, "The sandbox of the thread.", SessionJson.SESSION)
            .fails(404, 502);

    private final GetSandbox get;

    public GetSessionHandler(GetSandbox get) {
        this.get = get;
    }

    public void handle(Exchange exchange) throws IOException {
        var result = get.get(exchange.principal(), new ThreadId(exchange.query("thread_id")));
        exchange.answer(
                200,
                SessionJson.SESSION,
                new SessionJson.Session(result.sandbox(), SessionJson.Found.ACTIVE, result.files()));
    }
}
