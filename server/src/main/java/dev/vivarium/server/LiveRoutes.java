package dev.vivarium.server;

import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.List;

/// Routes of events, messages, shells and WebSockets.
final class LiveRoutes {
    private LiveRoutes() {}

    static List<Route> of(
            EventsHandler events,
            MessagesHandler messages,
            FeedHandler feed,
            SocketsHandler sockets,
            ShellsHandler shells) {
        return List.of(
                MessagesHandler.POST.to(messages::post),
                MessagesHandler.TAKE.to(messages::take),
                MessagesHandler.INTERVENE.to(messages::intervene),
                EventsHandler.LIST.to(events::list),
                EventsHandler.APPEND.to(events::append),
                FeedHandler.STREAM.to(feed::stream),
                SocketsHandler.FEED.to(sockets::feed),
                SocketsHandler.EVENTS.to(sockets::events),
                SocketsHandler.SHELL.to(sockets::shell),
                ShellsHandler.LIST.to(shells::list),
                ShellsHandler.OPEN_SHELL.to(shells::open),
                ShellsHandler.END.to(shells::end));
    }
}
