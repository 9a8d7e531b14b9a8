package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.WORKER;

import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.task.TaskQueue;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import tools.jackson.core.JsonGenerator;

/// `/api/v1/sandbox/…`: the task of a worker and its reports. Each report is an event. Thread-safe.
public final class WorkerHandler {
    private static final Pattern STEP = Pattern.compile("[a-zA-Z0-9_.]{1,100}");
    private static final List<String> OUTCOMES = List.of("completed", "failed", "partial");
    private static final List<String> BEATS = List.of("active", "running", "busy", "idle", "paused");
    private static final String SOURCE = "worker";
    private static final int MAX_METRICS = 4 * 1024;

    private static final JsonType<Task.Report> REPORT = JsonType.constants(
            Task.Report.class, Task.Report::text, "must be pending, in_progress, completed, failed or blocked");
    private static final ObjectType<StatusReport> STATUS_REPORT = object(
                    "TaskStatus",
                    StatusReport::new,
                    field("status", REPORT, StatusReport::status),
                    optional("message", WorkerCall.message("message"), StatusReport::message))
            .closed();
    private static final ObjectType<Task> STATUS_SET = object(
            "TaskStatusSet",
            field("success", BOOLEAN, task -> true),
            field("task_id", TASK_ID, Task::id),
            field("status", REPORT, task -> task.reported().orElseThrow()),
            field("updated_at", TIME, Task::updatedAt));
    private static final ObjectType<Step> STEP_REPORT = object(
                    Step::new,
                    field(
                            "event_type",
                            STRING.checked(
                                    type -> STEP.matcher(type).matches(),
                                    "must be 1 to 100 characters of a-z, A-Z, 0-9, '_' and '.'")),
                    field("message", WorkerCall.message("message")),
                    optional("details", WorkerCall.object("details", WorkerCall.LONGEST_DATA)),
                    optional(
                            "progress_percent",
                            NUMBER.checked(percent -> percent >= 0 && percent <= 100, "must be between 0 and 100")))
            .named("Progress")
            .closed();
    private static final ObjectType<Event> STEP_NOTED =
            object("ProgressNoted", field("success", BOOLEAN, event -> true), field("event_id", STRING, Event::id));
    private static final JsonType<String> OUTCOME =
            STRING.with("enum", OUTCOMES).checked(OUTCOMES::contains, "must be completed, failed or partial");
    private static final ObjectType<TaskResults> RESULTS_REPORT = ObjectType.<TaskResults>object(
                    "Results",
                    field("status", OUTCOME),
                    field("summary", STRING),
                    field("files_changed", JsonType.list(RAW_OBJECT)),
                    optional("commits", JsonType.list(RAW_OBJECT)),
                    optional("tests_passed", BOOLEAN),
                    optional("notes", STRING))
            .readBy(TaskResults::read)
            .closed();
    private static final ObjectType<NextAction> RESULTS_TAKEN = object(
            "ResultsTaken",
            field("success", BOOLEAN, next -> true),
            field("task_id", TASK_ID, NextAction::task),
            field(
                    "next_action",
                    JsonType.nullable(STRING.with("enum", List.of("create_pr", "await_review", "continue"))),
                    NextAction::action));
    private static final ObjectType<Beat> HEARTBEAT_REPORT = object(
                    Beat::new,
                    field("sandbox_id", STRING),
                    optional("task_id", STRING),
                    field(
                            "status",
                            STRING.with("enum", BEATS)
                                    .checked(BEATS::contains, "must be one of " + String.join(", ", BEATS))),
                    optional(
                            "metrics",
                            WorkerCall.object("metrics", MAX_METRICS),
                            "At most 4 KB as JSON. Responses show it with the run."))
            .named("Heartbeat")
            .closed();
    private static final ObjectType<Commands> COMMANDS = object(
            "HeartbeatAnswer",
            field("success", BOOLEAN, commands -> true),
            field(
                    "commands",
                    JsonType.list(STRING.with("enum", List.of("pause", "resume", "abort"))),
                    Commands::commands),
            optional(
                    "reason",
                    STRING,
                    "Why the run must end.",
                    commands -> commands.request().reason()),
            optional(
                    "reason_code",
                    STRING,
                    "The same as a code.",
                    commands -> commands.request().code()));

    private record StatusReport(Task.Report status, Optional<String> message) {}

    private record Step(String type, String message, Optional<String> details, Optional<Double> percent) {}

    private record Beat(String sandbox, Optional<String> task, String status, Optional<String> metrics) {}

    /// @param text the object as the worker sent it, without control characters in texts
    private record TaskResults(String status, boolean hasCommits, String text) {
        static TaskResults read(JsonFields fields) {
            String status = fields.required("status", OUTCOME);
            String summary = fields.required("summary", WorkerCall.message("summary"));
            fields.objects("files_changed");
            boolean hasCommits =
                    !fields.optionalObjects("commits").orElse(List.of()).isEmpty();
            fields.optionalFlag("tests_passed");
            var notes = fields.optional("notes", WorkerCall.message("notes"));
            String text = notes.map(plain -> fields.with("notes", plain))
                    .orElse(fields)
                    .with("summary", summary)
                    .text();
            return new TaskResults(status, hasCommits, text);
        }
    }

    private record Commands(List<String> commands, Runs.Request request) {}

    private record NextAction(TaskId task, Optional<String> action) {}

    public static final RouteDescription TASK = RouteDescription.get("/api/v1/sandbox/task", WORKER)
            .named("workerTask", "Return the task of the worker")
            .text(WorkerCall.FOR_WORKERS)
            .answers(200, "The task.", RunJson.TASK)
            .fails(404);

    public static final RouteDescription STATUS = RouteDescription.patch(
                    "/api/v1/sandbox/task/{task_id}/status", WORKER)
            .named("workerStatus", "Report the status of the task")
            .text(WorkerCall.FOR_WORKERS)
            .header("Idempotency-Key", WorkerCall.IDEMPOTENCY)
            .takes(STATUS_REPORT)
            .answers(200, "The status was stored.", STATUS_SET)
            .fails(409, 422);

    public static final RouteDescription PROGRESS = RouteDescription.post(
                    "/api/v1/sandbox/task/{task_id}/progress", WORKER)
            .named("workerProgress", "Report a step of the task")
            .text(WorkerCall.FOR_WORKERS)
            .header("Idempotency-Key", WorkerCall.IDEMPOTENCY)
            .takes(STEP_REPORT)
            .answers(200, "The step was appended to the event log.", STEP_NOTED)
            .fails(409, 422);

    public static final RouteDescription RESULTS = RouteDescription.post(
                    "/api/v1/sandbox/task/{task_id}/results", WORKER)
            .named("workerResults", "Submit the results of the task")
            .text(WorkerCall.FOR_WORKERS)
            .header("Idempotency-Key", WorkerCall.IDEMPOTENCY)
            .takes(RESULTS_REPORT)
            .answers(200, "The results were stored.", RESULTS_TAKEN)
            .fails(409, 422);

    public static final RouteDescription HEARTBEAT = RouteDescription.post("/api/v1/sandbox/heartbeat", WORKER)
            .named("workerHeartbeat", "Report that the worker is alive")
            .text("""
                    For the worker in the sandbox, with the token that it was started with. The response has the \
                    next action of the worker.""")
            .query("wait", PageQuery.WAIT, "Seconds to wait for a command.")
            .takes(HEARTBEAT_REPORT)
            .answers(200, "The next action of the worker.", COMMANDS)
            .fails(409, 422);

    private final Tasks tasks;
    private final TaskQueue queue;
    private final Runs runs;
    private final Reviews reviews;
    private final IdempotencyRecords idempotencyRecords;
    private final EventLog log;
    private final UnaryOperator<String> mask;

    /// @param mask replaces secrets in stored text
    public WorkerHandler(
            Tasks tasks,
            TaskQueue queue,
            Runs runs,
            Reviews reviews,
            IdempotencyRecords idempotencyRecords,
            EventLog log,
            UnaryOperator<String> mask) {
        this.tasks = tasks;
        this.queue = queue;
        this.runs = runs;
        this.reviews = reviews;
        this.idempotencyRecords = idempotencyRecords;
        this.log = log;
        this.mask = mask;
    }

    public void task(Exchange exchange) throws IOException {
        var grant = WorkerCall.grant(exchange);
        var task = runs.find(grant.sandbox())
                .filter(run -> run.isActive() && run.task().equals(grant.task()))
                .flatMap(run -> tasks.find(run.task()))
                .orElseThrow(() -> new SandboxException(new RunFailure.NoTask()));
        exchange.answer(200, RunJson.TASK, RunJson.TaskView.ofWorker(task, queue.dependencies(task.id())));
    }

    public void status(Exchange exchange) throws IOException {
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.handleIdempotently(exchange, idempotencyRecords, (fields, key) -> {
            var report = STATUS_REPORT.read(fields);
            tasks.requireAtWork(grant.sandbox(), grant.task());
            log(grant.sandbox(), "agent.status", key, out -> {
                out.writeStringProperty("task_id", grant.task().value());
                STATUS_REPORT.writeFields(out, report);
            });
            Task task = tasks.reported(
                    grant.sandbox(),
                    grant.task(),
                    report.status(),
                    report.message().map(mask));
            return out -> STATUS_SET.writeFields(out, task);
        });
    }

    public void progress(Exchange exchange) throws IOException {
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.handleIdempotently(exchange, idempotencyRecords, (fields, key) -> {
            var step = STEP_REPORT.read(fields);
            tasks.requireAtWork(grant.sandbox(), grant.task());
            String data = text(out -> {
                out.writeStringProperty("task_id", grant.task().value());
                out.writeStringProperty("event_type", step.type());
                out.writeStringProperty("message", step.message());
                step.details().ifPresent(object -> raw(out, "details", object));
                step.percent().ifPresent(value -> out.writeNumberProperty("progress_percent", value));
            });
            // The other fields are short.
            WorkerCall.requireBytes("details", data, NewEvent.LONGEST_DATA);
            Event event = append(
                    grant.sandbox(), new NewEvent(key.map(WorkerHandler::eventId), "agent.progress", data, SOURCE));
            return out -> STEP_NOTED.writeFields(out, event);
        });
    }

    public void results(Exchange exchange) throws IOException {
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.handleIdempotently(exchange, idempotencyRecords, (fields, key) -> {
            var report = RESULTS_REPORT.read(fields);
            String result = mask.apply(report.text());
            WorkerCall.requireBytes("files_changed", result, NewEvent.LONGEST_DATA);
            tasks.requireAtWork(grant.sandbox(), grant.task());
            append(grant.sandbox(), new NewEvent(key.map(WorkerHandler::eventId), "agent.results", result, SOURCE));
            tasks.result(grant.sandbox(), grant.task(), result);
            var next = new NextAction(
                    grant.task(), nextAction(report.status(), report.hasCommits(), reviews.isAwaited(grant.sandbox())));
            return out -> RESULTS_TAKEN.writeFields(out, next);
        });
    }

    /// Returns the next step of the worker. A pending review comes first, unless the task failed.
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

    /// Does not count as activity of the sandbox.
    public void heartbeat(Exchange exchange) throws IOException {
        var grant = WorkerCall.grant(exchange);
        var beat = exchange.json(HEARTBEAT_REPORT);
        WorkerCall.requireOwn(beat.sandbox(), grant.sandbox().value(), "sandbox");
        beat.task().ifPresent(task -> WorkerCall.requireOwn(task, grant.task().value(), "task"));
        boolean isPaused = beat.status().equals("paused");
        var request =
                runs.heartbeat(grant.sandbox(), grant.task(), beat.metrics().orElse("{}"));
        var timeout = PageQuery.wait(exchange);
        if (timeout.isPositive() && request.state().commands(isPaused).isEmpty()) {
            request = awaitCommand(exchange, grant, isPaused, timeout);
        }
        exchange.answer(200, COMMANDS, new Commands(request.state().commands(isPaused), request));
    }

    private Runs.Request awaitCommand(Exchange exchange, WorkerGrant grant, boolean isPaused, Duration timeout) {
        try {
            return exchange.access()
                    .await(
                            timeout,
                            step -> runs.awaitCommand(grant.sandbox(), grant.task(), isPaused, step),
                            request -> !request.state().commands(isPaused).isEmpty());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
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

    /// A repeated request has the same event id.
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
