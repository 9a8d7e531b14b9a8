package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.model.CostRecorder;
import dev.vivarium.server.model.ModelHandler;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// What programs in sandboxes reach through their doors, and nothing else.
final class InsideRoutes {
    private InsideRoutes() {}

    /// Of all routes those that are for workers too, and the models.
    static List<Route> of(List<Route> routes, ModelHandler model) {
        var inside = new ArrayList<>(List.of(
                Route.post("/model/v1/messages", OWN, model::messages),
                Route.post("/model/v1/messages/count_tokens", OWN, model::countTokens),
                Route.post("/model/v1/chat/completions", OWN, model::completions),
                Route.get("/model/v1/models", OWN, model::models),
                // Behind the others: of two that fit, the first is taken.
                Route.any("/model/{rest…}", OWN, model::others)));
        routes.stream()
                .filter(route ->
                        route.access() instanceof Route.Access.Worker || route.access() instanceof Route.Access.Inside)
                .forEach(inside::add);
        return inside;
    }

    /// What asks models for agents. Close the result.
    static ModelHandler model(Routes.Parts parts, Admission admission, InstantSource clock) {
        return new ModelHandler(
                parts.config().model(),
                admission,
                parts.access().workers(),
                new CostRecorder(parts.agency().runs(), parts.log(), parts.telemetry()),
                parts.limits(),
                parts.access().audit(),
                clock);
    }
}
