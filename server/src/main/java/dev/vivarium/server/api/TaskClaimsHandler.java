package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.SECONDS;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.ObjectType;
import dev.vivarium.json.TaskJson;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.TaskError;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.UserTasks;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/// `POST /api/v1/tasks/claim` and the reports of workers outside of the server on the tasks they claimed. Thread-safe.
public final class TaskClaimsHandler {
    private static final Duration LEASE = Duration.ofSeconds(60);
    private static final String LEASE_TEXT = "Seconds until the lease lapses; 60 by default.";
    private static final String ATTEMPT_TEXT = "The number of the last attempt in the claimed task.";

    private static final ObjectType<Claim> CLAIM_FIELDS = object(
                    "TaskClaim",
                    Claim::new,
                    field("worker", STRING, "A name of the worker.", Claim::worker),
                    optional("agent_type", STRING, "Only tasks of this type.", Claim::agentType),
                    optional("lease_s", SECONDS, LEASE_TEXT, Claim::lease))
            .closed();
    private static final ObjectType<Beat> BEAT = object(
                    "TaskHeartbeat",
                    Beat::new,
                    field("attempt", INT, ATTEMPT_TEXT, Beat::attempt),
                    optional("lease_s", SECONDS, LEASE_TEXT, Beat::lease))
            .closed();
    private static final ObjectType<Completion> COMPLETION = object(
                    "TaskCompletion",
                    Completion::new,
                    field("attempt", INT, ATTEMPT_TEXT, Completion::attempt),
                    optional("result", RAW_OBJECT, Completion::result))
            .closed();
    private static final ObjectType<Report> FAILURE = object(
                    "TaskFailure",
                    Report::new,
                    field("attempt", INT, ATTEMPT_TEXT, Report::attempt),
                    field("error_message", STRING, Report::message),
                    optional(
                            "error_class",
                            TaskJson.ERROR_CLASS,
                            "Decides about a retry; `unknown` by default.",
                            Report::kind))
            .closed();

    private record Claim(String worker, Optional<String> agentType, Optional<Duration> lease) {}

    private record Beat(int attempt, Optional<Duration> lease) {}

    private record Completion(int attempt, Optional<String> result) {}

    private record Report(int attempt, String message, Optional<TaskError.Kind> kind) {}

    public static final RouteDescription CLAIM = RouteDescription.post("/api/v1/tasks/claim", KEY)
            .named("claimTask", "Claim the next task without a runtime")
            .text("""
                    Starts an attempt with a lease. If the worker does not renew the lease with `heartbeat`, the task \
                    returns to the queue.""")
            .takes(CLAIM_FIELDS)
            .answers(200, "The task. Its last attempt is that of the worker.", TaskJson.TASK)
            .answers(204, "No task is ready.")
            .fails(422);

    public static final RouteDescription HEARTBEAT = RouteDescription.post("/api/v1/tasks/{task_id}/heartbeat", KEY)
            .named("renewTask", "Renew the lease of a claimed task")
            .takes(BEAT)
            .answers(200, "The task.", TaskJson.TASK)
            .fails(404, 409, 422);

    public static final RouteDescription COMPLETE = RouteDescription.post("/api/v1/tasks/{task_id}/complete", KEY)
            .named("completeTask", "Complete a claimed task")
            .takes(COMPLETION)
            .answers(200, "The task.", TaskJson.TASK)
            .fails(404, 409, 422);

    public static final RouteDescription FAIL = RouteDescription.post("/api/v1/tasks/{task_id}/fail", KEY)
            .named("failTask", "Report that an attempt at a claimed task failed")
            .takes(FAILURE)
            .answers(200, "The task.", TaskJson.TASK)
            .fails(404, 409, 422);

    private final UserTasks tasks;

    public TaskClaimsHandler(UserTasks tasks) {
        this.tasks = tasks;
    }

    public void claim(Exchange exchange) throws IOException {
        var claim = exchange.json(CLAIM_FIELDS);
        Optional<QueuedTask> task = tasks.claim(
                exchange.principal(),
                claim.worker(),
                claim.agentType(),
                claim.lease().orElse(LEASE));
        if (task.isPresent()) {
            exchange.answer(200, TaskJson.TASK, task.get());
        } else {
            exchange.answer(204);
        }
    }

    public void heartbeat(Exchange exchange) throws IOException {
        var beat = exchange.json(BEAT);
        answer(
                exchange,
                tasks.heartbeat(
                        exchange.principal(),
                        exchange.path("task_id"),
                        beat.attempt(),
                        beat.lease().orElse(LEASE)));
    }

    public void complete(Exchange exchange) throws IOException {
        var done = exchange.json(COMPLETION);
        answer(exchange, tasks.complete(exchange.principal(), exchange.path("task_id"), done.attempt(), done.result()));
    }

    public void fail(Exchange exchange) throws IOException {
        var report = exchange.json(FAILURE);
        var error = new TaskError(report.kind().orElse(TaskError.Kind.UNKNOWN), "failed", report.message());
        answer(exchange, tasks.fail(exchange.principal(), exchange.path("task_id"), report.attempt(), error));
    }

    private static void answer(Exchange exchange, QueuedTask task) throws IOException {
        exchange.answer(200, TaskJson.TASK, task);
    }
}
