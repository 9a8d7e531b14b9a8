package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.http.Route;
import dev.vivarium.server.model.ModelHandler;
import java.util.ArrayList;
import java.util.List;

/// Routes for programs inside sandboxes, which call through the control port. Stateless.
final class InsideRoutes {
    private InsideRoutes() {}

    /// Returns the routes of the model gateway, and those of `routes` that workers may call.
    static List<Route> of(List<Route> routes, ModelHandler model) {
        var inside = new ArrayList<>(List.of(
                Route.undocumented("POST", "/model/v1/messages", OWN, model::messages),
                Route.undocumented("POST", "/model/v1/messages/count_tokens", OWN, model::countTokens),
                Route.undocumented("POST", "/model/v1/chat/completions", OWN, model::completions),
                Route.undocumented("GET", "/model/v1/models", OWN, model::models),
                // Last, because the router takes the first route that matches.
                Route.undocumented(Route.ANY, "/model/{rest…}", OWN, model::others)));
        routes.stream()
                .filter(route ->
                        route.access() instanceof Route.Access.Worker || route.access() instanceof Route.Access.Inside)
                .forEach(inside::add);
        return inside;
    }
}
