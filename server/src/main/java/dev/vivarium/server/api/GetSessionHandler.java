package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.SessionJson;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadName;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.GetSandbox;
import java.io.IOException;

/// `GET /get_session`. Thread-safe.
public final class GetSessionHandler {
    public static final RouteDescription GET_SESSION = RouteDescription.get("/get_session", KEY)
            .named("getSession", "Find the sandbox of a thread")
            .text("This call does not extend the lifetime of the session.")
            .requiredQuery("thread_id", "")
            .query(RouteDescription.OWNER, STRING, RouteDescription.OWNER_TEXT)
            .query("user_id", STRING, "For admins: the same as `owner`.")
            .answers(200, "The sandbox of the thread.", SessionJson.SESSION)
            .fails(404, 409, 502);

    private final GetSandbox get;

    public GetSessionHandler(GetSandbox get) {
        this.get = get;
    }

    public void handle(Exchange exchange) throws IOException {
        var name = new ThreadName(
                new ThreadId(exchange.query("thread_id")),
                exchange.optionalQuery(RouteDescription.OWNER)
                        .or(() -> exchange.optionalQuery("user_id"))
                        .map(UserId::new));
        exchange.concerns(new ThreadKey(name.owner().orElse(exchange.principal().name()), name.thread()));
        var result = get.get(exchange.principal(), name);
        exchange.concerns(result.sandbox());
        exchange.answer(
                200,
                SessionJson.SESSION,
                new SessionJson.Session(
                        result.sandbox(), SessionJson.Found.of(result.sandbox().status()), result.files()));
    }
}
