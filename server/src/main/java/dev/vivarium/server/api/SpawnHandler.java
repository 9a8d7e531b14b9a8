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

import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.run.Workers;
import dev.vivarium.json.EgressJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.CreateSandbox;
import dev.vivarium.server.operation.SandboxRule;
import java.io.IOException;
import java.math.BigDecimal;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/// `POST /api/v1/sandboxes`: starts an agent run for a task, in a new sandbox or in the sandbox of a thread.
/// Thread-safe.
public final class SpawnHandler {
    private static final ObjectType<NewRun> REQUEST = object(
            "Spawn",
            optional("task", RunJson.NEW_TASK),
            optional("task_id", STRING),
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
            optional("budget_usd", NUMBER),
            optional("resume_from", STRING, """
                            The sandbox of an earlier run of the same owner and runtime. The new run continues its \
                            conversation."""));
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

    public static final RouteDescription SPAWN = RouteDescription.post(
                    "/api/v1/sandboxes", KEY, "spawn", "Start an agent run for a task")
            .text("""
                    Creates the sandbox of the thread if it has none. If the worker cannot be started, the run \
                    has failed.""")
            .takes(REQUEST)
            .answers(201, "The run was started. It may have failed already.", SPAWNED)
            .fails(403, 404, 409, 422, 507);

    private static final int MAX_ARGUMENTS = 1000;
    private static final int MAX_MODEL = 200;
    private static final double MAX_BUDGET = 1_000_000;

    /// Variables with the same effect as a variable of the worker.
    private static final Map<String, String> FIELDS =
            Map.of("MODEL", "model", "BUDGET_USD", "budget_usd", "RESUME_SESSION", "resume_from");

    private final Agents agents;
    private final Tasks tasks;
    private final SandboxRule rule;
    private final Endpoints endpoints;
    private final SecureRandom random = new SecureRandom();

    public SpawnHandler(Agents agents, Tasks tasks, SandboxRule rule, Endpoints endpoints) {
        this.agents = agents;
        this.tasks = tasks;
        this.rule = rule;
        this.endpoints = endpoints;
    }

    public void handle(Exchange exchange) throws IOException {
        var wanted = read(exchange, exchange.json());
        Run run = agents.start(wanted);
        String ports = endpoints.http(exchange, run.sandbox()) + "/ports/{port}/";
        exchange.answer(201, SPAWNED, new Spawned(run, ports));
    }

    private NewRun read(Exchange exchange, JsonFields fields) {
        var user = fields.optionalString("user_id").map(UserId::new);
        UserId owner = user.orElseGet(() -> exchange.principal().name());
        CreateSandbox.requireMayActFor(exchange.principal(), owner);
        var program = program(fields);
        var budget = budget(fields);
        var resume = fields.optionalString("resume_from").map(SpawnHandler::sandbox);
        var assignment = assignment(fields, owner);
        var thread = fields.optionalString("thread_id").map(ThreadId::new).orElseGet(this::newThread);
        var request = SessionJson.readRest(fields, NewSandbox.of(owner, thread), rule.limits());
        fields.refuseOthers();
        rule.check(request);
        request.env().keySet().forEach(name -> requireFree(program.runtime(), name));
        return new NewRun(assignment, program, request, budget, resume);
    }

    private static Run.Program program(JsonFields fields) {
        var runtime = Run.Runtime.find(fields.string("runtime"))
                .orElseThrow(() -> refused("runtime", "must be claude, openhands or command"));
        var command = fields.optionalStrings("command");
        var model = fields.optionalString("model");
        boolean isCommand = runtime == Run.Runtime.COMMAND;
        require(!isCommand || command.filter(words -> !words.isEmpty()).isPresent(), "command", "must name a program");
        require(isCommand || command.isEmpty(), "command", "is for the runtime command alone");
        List<String> words = command.orElse(List.of());
        require(words.size() <= MAX_ARGUMENTS, "command", "must have at most " + MAX_ARGUMENTS + " words");
        require(words.stream().noneMatch(word -> word.indexOf('\0') >= 0), "command", "must not hold a NUL character");
        require(words.isEmpty() || !words.getFirst().isBlank(), "command", "must name a program");
        require(
                model.filter(name -> !name.matches("[\\x21-\\x7e]{1," + MAX_MODEL + "}"))
                        .isEmpty(),
                "model",
                "must be the name of a model: at most " + MAX_MODEL + " characters without spaces");
        return new Run.Program(runtime, words, model);
    }

    private static Optional<BigDecimal> budget(JsonFields fields) {
        OptionalDouble budget = fields.optionalNumber("budget_usd");
        if (budget.isEmpty()) {
            return Optional.empty();
        }
        double dollars = budget.getAsDouble();
        require(dollars > 0 && dollars <= MAX_BUDGET, "budget_usd", "must be above 0 and at most " + (long) MAX_BUDGET);
        return Optional.of(BigDecimal.valueOf(dollars));
    }

    private NewRun.Assignment assignment(JsonFields fields, UserId owner) {
        var fresh = fields.optionalObject("task").map(RunJson.NEW_TASK::read);
        var known = fields.optionalString("task_id");
        require(fresh.isPresent() || known.isPresent(), "task", "is required, or task_id");
        require(fresh.isEmpty() || known.isEmpty(), "task_id", "must not be given with task");
        return fresh.<NewRun.Assignment>map(NewRun.Assignment.Fresh::new)
                .orElseGet(() -> new NewRun.Assignment.Known(
                        tasks.require(known.orElseThrow(), owner::equals).id()));
    }

    /// Rejects a variable that the server sets itself, because it would silently override the requested value.
    private static void requireFree(Run.Runtime runtime, String variable) {
        String instead = FIELDS.containsKey(variable) ? "give " + FIELDS.get(variable) : "choose another name";
        require(
                !Workers.sets(runtime, variable),
                "env." + variable,
                "is set by the server for runs of " + runtime.text() + "; " + instead);
    }

    private static SandboxId sandbox(String id) {
        require(SandboxId.isWellFormed(id), "resume_from", "must be the id of a sandbox");
        return new SandboxId(id);
    }

    private ThreadId newThread() {
        var bytes = new byte[8];
        random.nextBytes(bytes);
        return new ThreadId("agent-" + HexFormat.of().formatHex(bytes));
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw refused(field, rule);
        }
    }

    private static SandboxException refused(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
