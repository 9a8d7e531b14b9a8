package dev.vivarium.server;

import static dev.vivarium.server.api.ValidationErrors.insteadOfInvalid;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.KEPT_SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.VISIBLE_SANDBOXES;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.firstMessage;
import static dev.vivarium.server.http.Route.Access.inside;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.List;

/// Routes of events, messages, shells and WebSockets.
final class LiveRoutes {
    private static final String SANDBOX_V1 = "/api/v1/sandboxes/{sandbox_id}";
    private static final String SHELLS = "/sandboxes/{sandbox_id}/shells";

    private LiveRoutes() {}

    static List<Route> of(
            EventsHandler events,
            MessagesHandler messages,
            FeedHandler feed,
            SocketsHandler sockets,
            ShellsHandler shells) {
        var process = scoped(Scope.PROCESS);
        return List.of(
                Route.post(SANDBOX_V1 + "/messages", process, insteadOfInvalid(messages::post)),
                Route.get(SANDBOX_V1 + "/messages", inside(Scope.PROCESS), messages::take),
                Route.post(SANDBOX_V1 + "/interventions", process, insteadOfInvalid(messages::intervene)),
                Route.get(SANDBOX_V1 + "/events", kept(Scope.SHELL_RO), events::list),
                Route.post(SANDBOX_V1 + "/events", inside(Scope.PROCESS), insteadOfInvalid(events::append)),
                Route.get("/api/v1/events", KEY, feed::stream),
                Route.get("/api/v1/ws/events", firstMessage(VISIBLE_SANDBOXES, Scope.SHELL_RO), sockets::feed),
                Route.get("/ws/sandboxes/{sandbox_id}", firstMessage(KEPT_SANDBOX, Scope.SHELL_RO), sockets::events),
                Route.get("/sandboxes/{sandbox_id}/shell", firstMessage(SANDBOX, Scope.SHELL_RO), sockets::shell),
                Route.get(SHELLS, scoped(Scope.SHELL_RO), shells::list),
                Route.post(SHELLS, scoped(Scope.SHELL), shells::open),
                Route.delete(SHELLS + "/{session_id}", scoped(Scope.SHELL), shells::end));
    }
}
