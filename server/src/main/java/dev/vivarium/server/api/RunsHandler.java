package dev.vivarium.server.api;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// `GET /api/v1/sandboxes/{sandbox_id}`: a sandbox, what runs in it, and how it went. Thread-safe.
public final class RunsHandler {
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
        exchange.allowQuery();
        var id = new SandboxId(exchange.path("sandbox_id"));
        SandboxInfo info = sandboxes
                .find(id)
                .map(sandbox -> sandbox.info())
                .or(() -> sandboxes.findEnded(id))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(id.value(), Optional.empty())));
        var run = runs.find(id);
        var task = run.map(Run::task).flatMap(tasks::find);
        List<Event> recent = log.read(id, Query.after(Math.max(0, log.head(id) - RECENT), RECENT));
        exchange.answer(200, out -> {
            out.writeObjectPropertyStart("sandbox");
            RunJson.write(out, info, run, task);
            out.writeEndObject();
            out.writeArrayPropertyStart("recent_events");
            for (Event event : recent) {
                out.writeStartObject();
                VisibleEvent.of(event, exchange.scopes()).write(out);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }
}
