package dev.vivarium.server.api;

import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.run.RunOutcome;
import dev.vivarium.core.run.Runs;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.Usage;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/// What the events of a worker mean for its run. Thread-safe.
public final class RunEventHandler {
    /// What only the server and people can have done.
    private static final List<String> NOT_ITS_OWN =
            List.of("user.", "guardian.", "sandbox.", "command.", "file.", "agent.model_call");

    private final Runs runs;

    public RunEventHandler(Runs runs) {
        this.runs = runs;
    }

    /// Throws [Failure.InvalidRequest] for an event that a worker cannot have seen: nobody speaks for others.
    static void requireItsOwn(NewEvent event) {
        if (NOT_ITS_OWN.stream().anyMatch(event.type()::startsWith)) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "event_type", "must not begin with " + String.join(", ", NOT_ITS_OWN) + " when a worker sends it"));
        }
        if (!event.source().equals("agent") && !event.source().equals("worker")) {
            throw new SandboxException(
                    new Failure.InvalidRequest("source", "must be agent or worker when a worker sends it"));
        }
    }

    /// Called when the event is on the disk, and again when it is sent again: only what counts asks whether it is
    /// new.
    ///
    /// @param task that of the worker who says so
    void heard(AppendResult appended, TaskId task) {
        Event event = appended.event();
        switch (event.type()) {
            case "agent.tool_use" -> {
                if (appended.isNew()) {
                    runs.toolUsed(event.sandbox(), task);
                }
            }
            case "agent.usage" -> used(event, task);
            case "agent.transcript" ->
                text(event, "session_id").ifPresent(session -> runs.remembers(event.sandbox(), task, session));
            case "agent.completed" -> said(event, task, RunOutcome.Kind.COMPLETED, "summary");
            case "agent.failed" -> said(event, task, RunOutcome.Kind.FAILED, "reason");
            default -> {}
        }
    }

    private void used(Event event, TaskId task) {
        try {
            JsonFields data = Json.answer(event.data());
            runs.reported(
                    event.sandbox(),
                    task,
                    new Usage(
                            "",
                            data.optionalInteger("input_tokens").orElse(0L),
                            data.optionalInteger("output_tokens").orElse(0L),
                            0,
                            0,
                            BigDecimal.valueOf(data.optionalNumber("cost_usd").orElse(0))));
        } catch (SandboxException e) {
            // The event is kept as it is; what it says of usage cannot be read.
        }
    }

    private void said(Event event, TaskId task, RunOutcome.Kind kind, String field) {
        runs.said(event.sandbox(), task, new RunOutcome(kind, text(event, field).orElse("")));
    }

    private static Optional<String> text(Event event, String field) {
        try {
            return Json.answer(event.data()).optionalString(field);
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }
}
