package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// `GET /threads/{thread_id}/connections`: the connections to the sandbox of a thread. Members see each other.
/// Thread-safe.
public final class ConnectionsHandler {
    private static final ObjectType<Presence.Connection> CONNECTION = object(
            "",
            field("user_id", USER_ID, Presence.Connection::user),
            optional("jti", STRING, "The id of the token, if the client has no key.", Presence.Connection::token),
            field(
                    "way",
                    JsonType.constants(Presence.Purpose.class, Presence.Purpose::text),
                    "`events`: follows events. `watch`: watches a shell. `type`: may type in a shell.",
                    Presence.Connection::purpose),
            field("since", TIME, Presence.Connection::since));
    private static final ObjectType<Connections> CONNECTIONS = object(
            "Connections",
            optional("sandbox_id", SANDBOX_ID, "The sandbox of the thread, if it has one.", Connections::sandbox),
            field("connections", JsonType.list(CONNECTION), "Oldest first.", Connections::all));

    private record Connections(Optional<SandboxId> sandbox, List<Presence.Connection> all) {}

    public static final RouteDescription LIST = RouteDescription.get("/threads/{thread_id}/connections", KEY)
            .named("listConnections", "List the connections to a sandbox")
            .answers(200, "Event streams and sockets. The audit log has the other calls.", CONNECTIONS)
            .fails(403, 404);

    private final ThreadResolver resolver;
    private final Sandboxes sandboxes;
    private final Presence presence;

    public ConnectionsHandler(ThreadResolver resolver, Sandboxes sandboxes, Presence presence) {
        this.resolver = resolver;
        this.sandboxes = sandboxes;
        this.presence = presence;
    }

    public void list(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        var sandbox = sandboxes.find(access.key()).map(Sandbox::id);
        exchange.answer(
                200,
                CONNECTIONS,
                new Connections(sandbox, sandbox.map(presence::at).orElse(List.of())));
    }
}
