package dev.vivarium.server.api;

import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.kept;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// `GET /api/v1/sandboxes/{sandbox_id}`: a sandbox, its run and its latest events. Thread-safe.
public final class RunsHandler {
    private static final ObjectType<Details> RUN_DETAILS = object(
            "RunDetails",
            field("sandbox", ListSandboxesHandler.SANDBOX, details -> ListSandboxesHandler.Line.of(details.sandbox())),
            field("recent_events", JsonType.list(VisibleEvent.EVENT), Details::recent));

    private record Details(RunJson.View sandbox, List<VisibleEvent> recent) {}

    public static final RouteDescription DETAILS = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}",
                    kept(Scope.SHELL_RO),
                    "runDetails",
                    "Find a sandbox, its run and its latest events")
            .text("An ended sandbox is visible to its owner.")
            .answers(200, "The sandbox and its run.", RUN_DETAILS);

    private static final int RECENT = 50;

    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Tasks tasks;
    private final EventLog log;

    public RunsHandler(Sandboxes sandboxes, Runs runs, Tasks tasks, EventLog log) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.tasks = tasks;
        this.log = log;
    }

    public void details(Exchange exchange) throws IOException {
        var id = new SandboxId(exchange.path("sandbox_id"));
        SandboxInfo info = sandboxes
                .find(id)
                .map(sandbox -> sandbox.info())
                .or(() -> sandboxes.findEnded(id))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(id.value(), Optional.empty())));
        var run = runs.find(id);
        var task = run.map(Run::task).flatMap(tasks::find);
        var recent = log.read(id, Query.after(Math.max(0, log.head(id) - RECENT), RECENT)).stream()
                .map(event -> VisibleEvent.of(event, exchange.scopes()))
                .toList();
        exchange.answer(200, RUN_DETAILS, new Details(new RunJson.View(info, run, task), recent));
    }
}
