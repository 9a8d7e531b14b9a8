package dev.vivarium.server;

import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the events of a sandbox and of the messages for its agent. Stateless.
final class EventRoutes {
    private EventRoutes() {}

    static List<Route> of(EventsHandler events, MessagesHandler messages, FeedHandler feed) {
        return List.of(
                MessagesHandler.POST.to(messages::post),
                MessagesHandler.TAKE.to(messages::take),
                MessagesHandler.INTERVENE.to(messages::intervene),
                EventsHandler.LIST.to(events::list),
                EventsHandler.APPEND.to(events::append),
                FeedHandler.STREAM.to(feed::stream));
    }
}
