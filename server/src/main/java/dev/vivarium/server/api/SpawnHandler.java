package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.RUN_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.EgressJson;
import dev.vivarium.json.GitJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.json.RunJson;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.StartRun;
import java.io.IOException;
import java.util.Optional;

/// `POST /api/v1/sandboxes`: starts an agent run for a task, in a new sandbox or in the sandbox of a thread.
/// Thread-safe.
public final class SpawnHandler {
    private static final ObjectType<StartRun.Request> REQUEST = object(
            "Spawn",
            optional("task", RunJson.NEW_TASK),
            optional("task_id", STRING),
            optional("agent_type", STRING, "The same as `task.agent_type`."),
            optional("review_policy", ReviewJson.POLICY, "The same as `task.review_policy`."),
            field("runtime", JsonType.constants(Run.Runtime.class, Run.Runtime::text)),
            optional("command", JsonType.list(STRING)),
            optional("model", STRING),
            optional("thread_id", STRING),
            optional("user_id", STRING),
            optional("env", JsonType.map(STRING), "Without the variables that the server sets for a run."),
            optional("limits", SessionJson.LOWER_LIMITS, "Lower limits than the server's."),
            optional("egress", EgressJson.EGRESS),
            optional("image", STRING),
            optional("timeout_minutes", NUMBER),
            optional("on_idle", SessionJson.ON_IDLE),
            optional("budget_usd", NUMBER),
            optional("guardian", RunJson.GUARDIAN, "The policy of the guardian; that of the server by default."),
            optional("resume_from", STRING, """
                            The sandbox of an earlier run of the same owner and runtime. The new run continues its \
                            conversation."""),
            optional("repository", GitJson.NEW_REPOSITORY, "Cloned into the sandbox before the worker starts."));
    private static final ObjectType<Spawned> SPAWNED = object(
            "Spawned",
            field("sandbox_id", SANDBOX_ID, spawned -> spawned.run().sandbox()),
            field("task_id", TASK_ID, spawned -> spawned.run().task()),
            field("thread_id", THREAD_ID, spawned -> spawned.run().thread()),
            field("run_id", RUN_ID, spawned -> spawned.run().id()),
            field("status", RunJson.RUN_STATUS, spawned -> spawned.run().status()),
            optional("reason", STRING, spawned -> spawned.run().reason()),
            field("preview_url", STRING, Spawned::previewUrl));

    private record Spawned(Run run, String previewUrl) {}

    public static final RouteDescription SPAWN = RouteDescription.post("/api/v1/sandboxes", KEY)
            .named("spawn", "Start an agent run for a task")
            .text("""
                    Creates the sandbox of the thread if it has none. If the worker cannot be started, the run \
                    has failed.""")
            .takes(REQUEST)
            .answers(201, "The run was started. It may have failed already.", SPAWNED)
            .fails(403, 404, 409, 422, 507);

    private final StartRun operation;
    private final Endpoints endpoints;

    public SpawnHandler(StartRun operation, Endpoints endpoints) {
        this.operation = operation;
        this.endpoints = endpoints;
    }

    public void handle(Exchange exchange) throws IOException {
        var request = read(exchange, exchange.json());
        exchange.concerns(request.sandbox().key());
        Run run = operation.start(exchange.principal(), request);
        exchange.concerns(run.sandbox().value());
        exchange.answer(201, SPAWNED, new Spawned(run, endpoints.preview(exchange, run.sandbox())));
    }

    private StartRun.Request read(Exchange exchange, JsonFields fields) {
        var owner = fields.optionalString("user_id")
                .map(UserId::new)
                .orElseGet(() -> exchange.principal().name());
        var thread = fields.optionalString("thread_id").map(ThreadId::new).orElseGet(operation::newThread);
        var sandbox = SessionJson.readRest(
                fields, NewSandbox.of(owner, thread), operation.rule().limits());
        var request = new StartRun.Request(
                task(fields),
                fields.optionalString("task_id"),
                runtime(fields.string("runtime")),
                fields.optionalStrings("command"),
                fields.optionalString("model"),
                sandbox,
                fields.optionalNumber("budget_usd"),
                fields.optionalString("resume_from"),
                fields.optional("guardian", RunJson.GUARDIAN),
                fields.optional("repository", GitJson.NEW_REPOSITORY));
        fields.refuseOthers();
        return request;
    }

    private static Optional<NewTask> task(JsonFields fields) {
        var agentType = fields.optionalString("agent_type");
        var policy = fields.optionalObject("review_policy");
        return fields.optionalObject("task")
                .map(task ->
                        agentType.map(type -> task.with("agent_type", type)).orElse(task))
                .map(task -> policy.map(one -> task.with("review_policy", one)).orElse(task))
                .map(RunJson.NEW_TASK::read);
    }

    private static Run.Runtime runtime(String text) {
        return TextEnum.find(Run.Runtime.class, text)
                .orElseThrow(() -> SandboxException.invalid("runtime", "must be claude, openhands or command"));
    }
}
