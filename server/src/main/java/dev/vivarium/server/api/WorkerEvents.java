package dev.vivarium.server.api;

import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.RunEvents;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.watch.ProcessEvents;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.util.List;
import java.util.Set;

/// Events that workers send, and the command events of their tools. Thread-safe.
public final class WorkerEvents {
    /// Last events of a run.
    private static final Set<String> END_TYPES = Set.of("agent.completed", "agent.failed");

    private static final int COST_BYTES = 64;

    private final EventLog log;
    private final Runs runs;
    private final RunEvents runEvents;
    private final ProcessEvents processEvents;

    public WorkerEvents(EventLog log, Runs runs, RunEvents runEvents, ProcessEvents processEvents) {
        this.log = log;
        this.runs = runs;
        this.runEvents = runEvents;
        this.processEvents = processEvents;
    }

    /// Validates all events before it appends the first.
    List<AppendResult> append(SandboxId sandbox, TaskId task, List<JsonFields> sent) {
        List<NewEvent> events = sent.stream()
                .map(SubmittedEvent::ofWorker)
                .map(event -> withCost(event, sandbox))
                .toList();
        List<AppendResult> appended = runEvents.append(sandbox, task, events);
        events.stream()
                .flatMap(event -> ToolCommands.of(event, log.codec().encode(event.body())).stream())
                .forEach(event -> note(sandbox, event));
        return appended;
    }

    private void note(SandboxId sandbox, NewEvent event) {
        if (event.body() instanceof CommandEvent.Started started) {
            processEvents.toolCommand(sandbox, started.line());
        }
        log.note(sandbox, event);
    }

    /// Sets the cost in the last event of a run. The gateway counts more than the SDK of the agent.
    private NewEvent withCost(NewEvent event, SandboxId sandbox) {
        String data = log.codec().encode(event.body());
        if (!END_TYPES.contains(event.type()) || data.length() > NewEvent.LONGEST_DATA - COST_BYTES) {
            return event;
        }
        double cost = runs.find(sandbox)
                .map(run -> run.spent().costUsd().doubleValue())
                .orElse(0.0);
        return new NewEvent(
                event.id(),
                event.type(),
                Json.answer(data).with("cost_usd", cost).text(),
                event.source());
    }
}
