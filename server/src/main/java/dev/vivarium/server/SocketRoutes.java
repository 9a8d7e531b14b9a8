package dev.vivarium.server;

import dev.vivarium.server.http.Route;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.List;

/// Routes of shells and WebSockets. Stateless.
final class SocketRoutes {
    private SocketRoutes() {}

    static List<Route> of(SocketsHandler sockets, ShellsHandler shells) {
        return List.of(
                ShellsHandler.LIST.to(shells::list),
                ShellsHandler.OPEN_SHELL.to(shells::open),
                ShellsHandler.END.to(shells::end),
                SocketsHandler.SHELL.to(sockets::shell),
                SocketsHandler.EVENTS.to(sockets::events),
                SocketsHandler.FEED.to(sockets::feed));
    }
}
