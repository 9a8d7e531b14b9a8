package dev.vivarium.server.api;

import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.kept;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.GetRun;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// `GET /api/v1/sandboxes/{sandbox_id}`: a sandbox, its run and its latest events. Thread-safe.
public final class RunsHandler {
    private static final ObjectType<Details> RUN_DETAILS = object(
            "RunDetails",
            field("sandbox", ListSandboxesHandler.SANDBOX, Details::sandbox),
            field("recent_events", JsonType.list(VisibleEvent.EVENT), Details::recent));

    private record Details(ListSandboxesHandler.Line sandbox, List<VisibleEvent> recent) {}

    public static final RouteDescription DETAILS = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}", kept(Scope.SHELL_RO))
            .named("runDetails", "Find a sandbox, its run and its latest events")
            .text("An ended sandbox is visible to its owner.")
            .answers(200, "The sandbox and its run.", RUN_DETAILS);

    private final GetRun operation;
    private final Endpoints endpoints;

    public RunsHandler(GetRun operation, Endpoints endpoints) {
        this.operation = operation;
        this.endpoints = endpoints;
    }

    public void details(Exchange exchange) throws IOException {
        var found = operation.get(new SandboxId(exchange.path("sandbox_id")));
        var recent = found.recent().stream()
                .map(event -> VisibleEvent.of(event, exchange.scopes()))
                .toList();
        var sandbox = ListSandboxesHandler.Line.of(
                new RunJson.View(found.sandbox(), found.run(), found.task()),
                endpoints.preview(exchange, found.sandbox().id()),
                recent.isEmpty()
                        ? Optional.empty()
                        : Optional.of(recent.getLast().event().at()));
        exchange.answer(200, RUN_DETAILS, new Details(sandbox, recent));
    }
}
