package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.KEPT_SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.VISIBLE_SANDBOXES;
import static dev.vivarium.server.http.Route.Access.firstMessage;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.Route.Access.FirstMessage.Target;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.List;

/// Routes of shells and WebSockets.
final class SocketRoutes {
    private static final String SHELLS = "/sandboxes/{sandbox_id}/shells";

    private SocketRoutes() {}

    static List<Route> of(SocketsHandler sockets, ShellsHandler shells) {
        return List.of(
                Route.get(SHELLS, scoped(Scope.SHELL_RO), shells::list),
                Route.post(SHELLS, scoped(Scope.SHELL), shells::open),
                Route.delete(SHELLS + "/{session_id}", scoped(Scope.SHELL), shells::end),
                Route.get("/sandboxes/{sandbox_id}/shell", watcher(SANDBOX), sockets::shell),
                Route.get("/ws/sandboxes/{sandbox_id}", watcher(KEPT_SANDBOX), sockets::events),
                Route.get("/api/v1/ws/events", watcher(VISIBLE_SANDBOXES), sockets::feed));
    }

    private static Route.Access watcher(Target target) {
        return firstMessage(target, Scope.SHELL_RO);
    }
}
