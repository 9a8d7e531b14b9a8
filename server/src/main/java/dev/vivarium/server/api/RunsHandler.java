package dev.vivarium.server.api;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.EventJson;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// `GET /api/v1/sandboxes` and `…/{sandbox_id}`: sandboxes, what runs in them, and how it went. Thread-safe.
public final class RunsHandler {
    private static final int MOST = 1000;
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

    /// A sandbox with the newest of its runs, if it has had any.
    private record Entry(SandboxInfo sandbox, Optional<Run> run) {
        String status() {
            return RunJson.status(sandbox, run);
        }
    }

    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery("status", "task_id", "limit");
        var status = exchange.optionalQuery("status").map(RunsHandler::status);
        var task = exchange.optionalQuery("task_id").map(TaskId::new);
        int limit = Page.limit(exchange, MOST);
        boolean isAboutAll = status.isPresent() || task.isPresent();
        var found = (isAboutAll ? everything(exchange, task) : living(exchange))
                .values().stream()
                        .filter(entry -> status.map(entry.status()::equals).orElse(true))
                        .filter(entry -> task.map(id -> entry.run()
                                        .map(Run::task)
                                        .filter(id::equals)
                                        .isPresent())
                                .orElse(true))
                        .limit(limit)
                        .toList();
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("sandboxes");
            for (Entry entry : found) {
                out.writeStartObject();
                RunJson.write(out, entry.sandbox(), entry.run(), Optional.empty());
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    private static String status(String word) {
        return Run.Status.find(word)
                .map(Run.Status::text)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "status", "must be creating, running, paused, completed, failed or terminated")));
    }

    /// The caller's sandboxes that live, newest first.
    private Map<SandboxId, Entry> living(Exchange exchange) {
        var newest = new HashMap<SandboxId, Run>();
        runs.ofLiving().forEach(run -> newest.putIfAbsent(run.sandbox(), run));
        var entries = new LinkedHashMap<SandboxId, Entry>();
        for (SandboxInfo info : sandboxes.list().reversed()) {
            if (exchange.principal().mayActFor(info.user())) {
                entries.put(info.id(), new Entry(info, Optional.ofNullable(newest.get(info.id()))));
            }
        }
        return entries;
    }

    /// Those, and those that have ended and had a run.
    private Map<SandboxId, Entry> everything(Exchange exchange, Optional<TaskId> task) {
        var entries = living(exchange);
        Optional<UserId> owner = exchange.principal().user();
        for (Run run : runs.newest(owner, task, MOST)) {
            if (!entries.containsKey(run.sandbox())) {
                sandboxes
                        .findEnded(run.sandbox())
                        .ifPresent(info -> entries.put(info.id(), new Entry(info, Optional.of(run))));
            }
        }
        return entries;
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
                EventJson.write(out, event);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }
}
