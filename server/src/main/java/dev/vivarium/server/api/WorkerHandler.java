package dev.vivarium.server.api;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import tools.jackson.core.JsonGenerator;

/// `/api/v1/sandbox/…`: the task of a worker, and what it reports of it. Each report is an event. Thread-safe.
public final class WorkerHandler {
    private static final Pattern STEP = Pattern.compile("[a-zA-Z0-9_.]{1,100}");
    private static final List<String> RESULTS = List.of("completed", "failed", "partial");
    private static final List<String> BEATS = List.of("active", "running", "busy", "idle", "paused");
    private static final String SOURCE = "worker";
    private static final int LONGEST_METRICS = 4 * 1024;

    private final Tasks tasks;
    private final Runs runs;
    private final Reviews reviews;
    private final IdempotencyRecords repeats;
    private final EventLog log;

    public WorkerHandler(Tasks tasks, Runs runs, Reviews reviews, IdempotencyRecords repeats, EventLog log) {
        this.tasks = tasks;
        this.runs = runs;
        this.reviews = reviews;
        this.repeats = repeats;
        this.log = log;
    }

    /// `GET …/task`.
    public void task(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.grant(exchange);
        var task = runs.find(grant.sandbox())
                .filter(run -> run.isActive() && run.task().equals(grant.task()))
                .flatMap(run -> tasks.find(run.task()))
                .orElseThrow(() -> new SandboxException(new RunFailure.NoTask()));
        exchange.answer(200, out -> RunJson.writeTask(out, task));
    }

    /// `PATCH …/task/{task_id}/status`.
    public void status(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.once(exchange, repeats, (fields, key) -> {
            var status = Task.Status.find(fields.string("status"))
                    .orElseThrow(() ->
                            WorkerCall.refused("status", "must be pending, in_progress, completed, failed or blocked"));
            var message = WorkerCall.optionalMessage(fields, "message");
            fields.refuseOthers();
            tasks.requireAtWork(grant.sandbox(), grant.task());
            log(grant.sandbox(), "agent.status", key, out -> {
                out.writeStringProperty("task_id", grant.task().value());
                out.writeStringProperty("status", status.text());
                message.ifPresent(text -> out.writeStringProperty("message", text));
            });
            Task task = tasks.status(grant.sandbox(), grant.task(), status, message);
            return out -> {
                out.writeBooleanProperty("success", true);
                out.writeStringProperty("task_id", task.id().value());
                out.writeStringProperty("status", task.status().text());
                Json.time(out, "updated_at", task.updatedAt());
            };
        });
    }

    /// `POST …/task/{task_id}/progress`.
    public void progress(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.once(exchange, repeats, (fields, key) -> {
            String step = fields.string("event_type");
            if (!STEP.matcher(step).matches()) {
                throw WorkerCall.refused("event_type", "must be 1 to 100 characters of a-z, A-Z, 0-9, '_' and '.'");
            }
            String message = WorkerCall.message(fields, "message");
            var details = WorkerCall.object(fields, "details");
            var percent = percent(fields);
            fields.refuseOthers();
            tasks.requireAtWork(grant.sandbox(), grant.task());
            String data = text(out -> {
                out.writeStringProperty("task_id", grant.task().value());
                out.writeStringProperty("event_type", step);
                out.writeStringProperty("message", message);
                details.ifPresent(object -> raw(out, "details", object));
                percent.ifPresent(value -> out.writeNumberProperty("progress_percent", value));
            });
            // All else that is in it is short.
            WorkerCall.requireBytes("details", data, NewEvent.LONGEST_DATA);
            Event event = append(
                    grant.sandbox(), new NewEvent(key.map(WorkerHandler::eventId), "agent.progress", data, SOURCE));
            return out -> {
                out.writeBooleanProperty("success", true);
                out.writeStringProperty("event_id", event.id());
            };
        });
    }

    private static OptionalDouble percent(JsonFields fields) {
        OptionalDouble percent = fields.optionalNumber("progress_percent");
        if (percent.isPresent() && (percent.getAsDouble() < 0 || percent.getAsDouble() > 100)) {
            throw WorkerCall.refused("progress_percent", "must be between 0 and 100");
        }
        return percent;
    }

    /// `POST …/task/{task_id}/results`.
    public void results(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.once(exchange, repeats, (fields, key) -> {
            String status = fields.string("status");
            if (!RESULTS.contains(status)) {
                throw WorkerCall.refused("status", "must be completed, failed or partial");
            }
            String summary = WorkerCall.message(fields, "summary");
            fields.objects("files_changed");
            boolean hasCommits =
                    !fields.optionalObjects("commits").orElse(List.of()).isEmpty();
            fields.optionalFlag("tests_passed");
            var notes = WorkerCall.optionalMessage(fields, "notes");
            fields.refuseOthers();
            String result = notes.map(text -> fields.with("notes", text))
                    .orElse(fields)
                    .with("summary", summary)
                    .text();
            WorkerCall.requireBytes("files_changed", result, NewEvent.LONGEST_DATA);
            tasks.requireAtWork(grant.sandbox(), grant.task());
            append(grant.sandbox(), new NewEvent(key.map(WorkerHandler::eventId), "agent.results", result, SOURCE));
            tasks.result(grant.sandbox(), grant.task(), result);
            Optional<String> next = nextAction(status, hasCommits, reviews.isAwaited(grant.sandbox()));
            return out -> {
                out.writeBooleanProperty("success", true);
                out.writeStringProperty("task_id", grant.task().value());
                next.ifPresentOrElse(
                        action -> out.writeStringProperty("next_action", action),
                        () -> out.writeNullProperty("next_action"));
            };
        });
    }

    /// What was done cannot be taken further while a person has not said what they were asked.
    private static Optional<String> nextAction(String status, boolean hasCommits, boolean isAwaited) {
        if (isAwaited && !status.equals("failed")) {
            return Optional.of("await_review");
        }
        return switch (status) {
            case "partial" -> Optional.of("continue");
            case "completed" -> hasCommits ? Optional.of("create_pr") : Optional.empty();
            default -> Optional.empty();
        };
    }

    /// `POST …/heartbeat`: says that the worker lives, which is no work.
    public void heartbeat(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.grant(exchange);
        var fields = exchange.json();
        WorkerCall.requireOwn(fields.string("sandbox_id"), grant.sandbox().value(), "sandbox");
        fields.optionalString("task_id")
                .ifPresent(task -> WorkerCall.requireOwn(task, grant.task().value(), "task"));
        String status = fields.string("status");
        if (!BEATS.contains(status)) {
            throw WorkerCall.refused("status", "must be one of " + String.join(", ", BEATS));
        }
        String metrics = fields.optionalObject("metrics").map(JsonFields::text).orElse("{}");
        WorkerCall.requireBytes("metrics", metrics, LONGEST_METRICS);
        fields.refuseOthers();
        var commands = runs.heartbeat(grant.sandbox(), grant.task(), metrics).commands(status.equals("paused"));
        exchange.answer(200, out -> {
            out.writeBooleanProperty("success", true);
            out.writeArrayPropertyStart("commands");
            commands.forEach(out::writeString);
            out.writeEndArray();
        });
    }

    private void log(SandboxId sandbox, String type, Optional<String> key, Consumer<JsonGenerator> data) {
        var _ = append(sandbox, new NewEvent(key.map(WorkerHandler::eventId), type, text(data), SOURCE));
    }

    private static String text(Consumer<JsonGenerator> object) {
        return new String(Json.bytes(object), StandardCharsets.UTF_8);
    }

    private Event append(SandboxId sandbox, NewEvent event) {
        return log.append(sandbox, event).event();
    }

    /// The event of a saying that is repeated is the same one.
    static String eventId(String key) {
        return key.length() <= 90
                ? "said." + key
                : "said." + key.substring(0, 40) + Integer.toHexString(key.hashCode());
    }

    private static void raw(JsonGenerator out, String name, String object) {
        out.writeName(name);
        out.writeRawValue(object);
    }
}
