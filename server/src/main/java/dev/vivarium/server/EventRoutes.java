package dev.vivarium.server;

import static dev.vivarium.server.api.ValidationErrors.insteadOfInvalid;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.inside;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the events of a sandbox and of the messages for its agent.
final class EventRoutes {
    private static final String SANDBOX = "/api/v1/sandboxes/{sandbox_id}";

    private EventRoutes() {}

    static List<Route> of(EventsHandler events, MessagesHandler messages, FeedHandler feed) {
        return List.of(
                Route.post(SANDBOX + "/messages", scoped(Scope.PROCESS), insteadOfInvalid(messages::post)),
                Route.get(SANDBOX + "/messages", inside(Scope.PROCESS), messages::take),
                Route.post(SANDBOX + "/interventions", scoped(Scope.PROCESS), insteadOfInvalid(messages::intervene)),
                Route.get(SANDBOX + "/events", kept(Scope.SHELL_RO), events::list),
                Route.post(SANDBOX + "/events", inside(Scope.PROCESS), insteadOfInvalid(events::append)),
                Route.get("/api/v1/events", KEY, feed::stream));
    }
}
