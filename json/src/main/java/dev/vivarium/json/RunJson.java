package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.RUN_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.DECIMAL;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.End;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// JSON form of tasks and runs. Stateless.
public final class RunJson {
    private static final int MAX_TOOLS = 100;
    private static final int MAX_TOOL = 200;
    private static final Pattern TOOL = Pattern.compile("[^\\p{Cntrl}]{1," + MAX_TOOL + "}");

    /// A year: longer than any sandbox lives, and within the range of every clock.
    private static final int MAX_MINUTES = 366 * 24 * 60;

    public static final JsonType<Run.Status> RUN_STATUS = constants(Run.Status.class);

    private static final List<String> STATUSES = Stream.concat(
                    Arrays.stream(Run.Status.values()).map(Run.Status::text), Stream.of(Status.HIBERNATED.text()))
            .toList();

    /// Combined status of a sandbox and its run. See [#status].
    public static final JsonType<String> STATUS =
            STRING.with("enum", STATUSES).checked(STATUSES::contains, "must be one of " + String.join(", ", STATUSES));

    static final String TICKET = "ticket_id";
    static final String AGENT_TYPE = "agent_type";

    static final JsonType<Run.Runtime> RUNTIME = constants(Run.Runtime.class);

    public static final JsonType<GuardianPolicy> GUARDIAN =
            constants(GuardianPolicy.class, GuardianPolicy::text, "must be off, watch, steer or stop");

    /// A task. The worker sees it without its status.
    public static final ObjectType<TaskView> TASK = object(
            "Task",
            field("task_id", TASK_ID, view -> view.task().id()),
            field("title", STRING, view -> view.task().wanted().title()),
            field("description", STRING, view -> view.task().wanted().description()),
            optional("type", STRING, view -> view.task().wanted().type()),
            optional("priority", STRING, view -> view.task().wanted().priority()),
            optional("ticket_id", STRING, view -> word(view.task(), TICKET)),
            optional("agent_type", STRING, view -> word(view.task(), AGENT_TYPE)),
            field("context", RAW_OBJECT, TaskView::context),
            field("constraints", RAW_OBJECT, view -> view.task().wanted().constraints()),
            optional("result", RAW_OBJECT, view -> view.task().result()),
            optional(
                    "status", constants(Task.Status.class), view -> view.whole().map(Task::status)),
            optional(
                    "reported_status",
                    constants(Task.Report.class),
                    "The status that the worker reported last.",
                    view -> view.whole().flatMap(Task::reported)),
            optional("message", STRING, view -> view.whole().flatMap(Task::message)),
            optional("created_at", TIME, view -> view.whole().map(Task::createdAt)),
            optional("updated_at", TIME, view -> view.whole().map(Task::updatedAt)));

    /// @param whole   the same task if the caller sees its status
    /// @param context the context of the task, a JSON object as text
    public record TaskView(Task task, Optional<Task> whole, String context) {
        /// @param dependencies the tasks that the task depends on. The context contains their results
        public static TaskView ofWorker(Task task, List<Task> dependencies) {
            return new TaskView(task, Optional.empty(), TaskJson.context(task, dependencies));
        }

        static TaskView of(Task task) {
            return new TaskView(task, Optional.of(task), task.wanted().context());
        }
    }

    private static final ObjectType<Spent> USAGE = object(
            "",
            field("input_tokens", LONG, Spent::inputTokens),
            field("output_tokens", LONG, Spent::outputTokens),
            field("cache_read_tokens", LONG, Spent::cacheReadTokens),
            field("cache_write_tokens", LONG, Spent::cacheWriteTokens));

    private static final ObjectType<RunView> RUN = object(
            "Run",
            field("run_id", RUN_ID, view -> view.run().id()),
            field("runtime", RUNTIME, view -> view.run().program().runtime()),
            optional(
                    "command",
                    list(STRING),
                    view -> Optional.of(view.run().program().command()).filter(command -> !command.isEmpty())),
            optional("model", STRING, view -> view.run().program().model()),
            field("status", RUN_STATUS, view -> view.run().status()),
            optional("reason", STRING, view -> view.run().reason()),
            optional(
                    "reason_code",
                    STRING,
                    "Why the run ended: `completed`, `failed`, `budget`, `time_limit`, `model_error`, `aborted`, …",
                    view -> view.run().reasonCode()),
            field("cost_usd", DECIMAL, view -> view.run().spent().costUsd()),
            field("tokens", LONG, view -> view.run().spent().tokens()),
            field("tool_calls", LONG, view -> view.run().spent().toolCalls()),
            field("usage", USAGE, view -> view.run().spent()),
            optional("budget_usd", DECIMAL, view -> view.run().budgetUsd()),
            optional("session", STRING, view -> view.run().session()),
            optional(
                    "guardian",
                    GUARDIAN,
                    "The policy of this run.",
                    view -> view.run().guardian()),
            field("started_at", TIME, view -> view.run().startedAt()),
            optional("ended_at", TIME, view -> view.run().endedAt()),
            optional("last_heartbeat", TIME, view -> view.run().heartbeat().map(Run.Heartbeat::at)),
            optional(
                    "metrics",
                    RAW_OBJECT,
                    "The metrics of the last heartbeat of the worker.",
                    view -> view.run().heartbeat().map(Run.Heartbeat::metrics)),
            optional("task", TASK, view -> view.task().map(TaskView::of)));

    private record RunView(Run run, Optional<Task> task) {}

    /// A run with its sandbox, thread and task.
    public static final ObjectType<RunEntry> RUN_ENTRY = RUN.<RunEntry>over(
                    entry -> new RunView(entry.run(), entry.task()))
            .and(
                    "RunEntry",
                    object(
                            "",
                            field("sandbox_id", SANDBOX_ID, entry -> entry.run().sandbox()),
                            field("thread_id", THREAD_ID, entry -> entry.run().thread()),
                            field("user_id", USER_ID, entry -> entry.run().owner()),
                            field("task_id", TASK_ID, entry -> entry.run().task()),
                            optional("task_title", STRING, RunEntry::title)));

    /// @param task present if the response shows the whole task
    public record RunEntry(Run run, Optional<String> title, Optional<Task> task) {}

    /// The fields of a sandbox, and of its run if it has one.
    public static final ObjectType<View> SANDBOX = object(
            "",
            field("sandbox_id", SANDBOX_ID, view -> view.sandbox().id()),
            field("thread_id", THREAD_ID, view -> view.sandbox().thread()),
            field("user_id", USER_ID, view -> view.sandbox().user()),
            field("status", STATUS, view -> status(view.sandbox(), view.run())),
            field("state", SessionJson.STATE, view -> view.sandbox().status()),
            optional("reason", STRING, view -> reason(view.sandbox(), view.run())),
            field("created_at", TIME, view -> view.sandbox().createdAt()),
            field("last_activity", TIME, view -> view.sandbox().lastActivity()),
            field("expires_at", TIME, view -> view.sandbox().expiresAt()),
            field("expires_by", SessionJson.EXPIRES_BY, view -> SessionJson.expiresBy(view.sandbox())),
            field(
                    "on_idle",
                    SessionJson.ON_IDLE,
                    SessionJson.ON_IDLE_TEXT,
                    view -> view.sandbox().onIdle()),
            field("ends_at", TIME, view -> view.sandbox().endsAt()),
            field("limits", SessionJson.LIMITS, view -> view.sandbox().limits()),
            optional("end", SessionJson.END, view -> view.sandbox().end()),
            optional("task_id", TASK_ID, view -> view.run().map(Run::task)),
            optional(
                    "runtime",
                    STRING,
                    view -> view.run().map(run -> run.program().runtime().text())),
            optional(
                    "agent_id",
                    RUN_ID,
                    "The same as `run.run_id`.",
                    view -> view.run().map(Run::id)),
            optional(
                    "conversation_id",
                    STRING,
                    "The same as `run.session`.",
                    view -> view.run().flatMap(Run::session)),
            optional(
                    "total_cost_usd",
                    DECIMAL,
                    "The same as `run.cost_usd`.",
                    view -> view.run().map(run -> run.spent().costUsd())),
            optional(
                    "total_tokens",
                    LONG,
                    "The same as `run.tokens`.",
                    view -> view.run().map(run -> run.spent().tokens())),
            optional(
                    "tool_calls_count",
                    LONG,
                    "The same as `run.tool_calls`.",
                    view -> view.run().map(run -> run.spent().toolCalls())),
            optional(
                    "retry_count",
                    LONG,
                    "Always 0: the server does not repeat a run.",
                    view -> view.run().map(_ -> 0L)),
            optional(
                    "last_heartbeat_at",
                    TIME,
                    "The same as `run.last_heartbeat`.",
                    view -> view.run().flatMap(Run::heartbeat).map(Run.Heartbeat::at)),
            optional(
                    "completed_at",
                    TIME,
                    "End of the run, or of a sandbox without a run.",
                    view -> view.run().isPresent()
                            ? view.run().flatMap(Run::endedAt)
                            : view.sandbox().end().map(End::at)),
            optional("run", RUN, view -> view.run().map(run -> new RunView(run, view.task()))));

    public record View(SandboxInfo sandbox, Optional<Run> run, Optional<Task> task) {}

    static final ObjectType<Object> CONSTRAINTS = object(
                    "",
                    optional("allowed_tools", list(STRING.length(1, MAX_TOOL)).with("maxItems", MAX_TOOLS), """
                            Names of the tools that the agent may use, beside the tools of the worker itself. An empty \
                            list allows none. Without the list the agent may use all tools of its runtime."""),
                    optional(
                            "time_limit_minutes",
                            NUMBER.with("exclusiveMinimum", 0).with("maximum", MAX_MINUTES),
                            "The run fails after this time."),
                    optional("allowed_paths", list(STRING), """
                            Files and directories that the agent may change, relative to the workspace. The guardian \
                            reports changes elsewhere."""),
                    optional("allowed_hosts", list(STRING), """
                            Hosts that the agent may connect to. The guardian reports commands with other hosts."""),
                    optional(ReviewJson.POLICY_NAME, ReviewJson.POLICY, "The default policy of the agent's reviews."))
            .with("additionalProperties", true);

    /// A new task in a request.
    public static final ObjectType<NewTask> NEW_TASK = ObjectType.<NewTask>object(
                    "NewTask",
                    field("title", STRING),
                    optional("description", STRING),
                    optional("type", STRING),
                    optional("priority", STRING),
                    optional(TICKET, STRING, "Kept in `context`."),
                    optional(AGENT_TYPE, STRING, "Kept in `context`."),
                    optional("context", RAW_OBJECT.with("additionalProperties", true)),
                    optional(ReviewJson.POLICY_NAME, ReviewJson.POLICY, "Kept in `constraints`."),
                    optional(
                            "constraints",
                            CONSTRAINTS,
                            "Workers enforce two constraints. The others are for the agent."))
            .readBy(RunJson::readTask)
            .closed();

    private RunJson() {}

    static NewTask readTask(JsonFields fields) {
        return new NewTask(
                fields.string("title"),
                fields.optionalString("description").orElse(""),
                fields.optionalString("type"),
                fields.optionalString("priority"),
                context(fields),
                constraints(withPolicy(fields)));
    }

    /// Returns the constraints with the policy of reviews, which clients send beside them.
    private static JsonFields withPolicy(JsonFields fields) {
        JsonFields given = fields.optionalObject("constraints").orElseGet(() -> Json.answer("{}"));
        return fields.optionalObject(ReviewJson.POLICY_NAME)
                .map(policy -> given.with(ReviewJson.POLICY_NAME, policy))
                .orElse(given);
    }

    /// Returns the context with the ticket and the type of the agent, which other systems send beside it.
    private static String context(JsonFields fields) {
        var context = fields.optionalObject("context").orElseGet(() -> Json.answer("{}"));
        for (String name : List.of(TICKET, AGENT_TYPE)) {
            var value = fields.optionalString(name);
            if (value.isPresent()) {
                context = context.with(name, value.get());
            }
        }
        return context.text();
    }

    /// Returns a text in the context of a task, if there is one with this name.
    static Optional<String> word(Task task, String name) {
        String context = task.wanted().context();
        if (!context.contains('"' + name + '"')) {
            return Optional.empty();
        }
        try {
            return Json.answer(context).optionalString(name);
        } catch (SandboxException e) {
            // The context belongs to the caller, and the value may be of another type.
            return Optional.empty();
        }
    }

    /// Validates the constraints that workers enforce. All other constraints are for the agent and may have any
    /// form.
    private static String constraints(JsonFields fields) {
        fields.optionalStrings("allowed_tools").ifPresent(tools -> {
            String field = fields.place() + "allowed_tools";
            require(tools.size() <= MAX_TOOLS, field, "must name at most " + MAX_TOOLS + " tools");
            require(
                    tools.stream().allMatch(tool -> TOOL.matcher(tool).matches()),
                    field,
                    "must hold names of tools: 1 to " + MAX_TOOL + " characters each, without control characters");
        });
        requireTexts(fields, "allowed_paths");
        requireTexts(fields, "allowed_hosts");
        fields.optionalNumber("time_limit_minutes")
                .ifPresent(minutes -> require(
                        minutes > 0 && minutes <= MAX_MINUTES,
                        fields.place() + "time_limit_minutes",
                        "must be above 0 and at most " + MAX_MINUTES));
        fields.optionalObject(ReviewJson.POLICY_NAME).ifPresent(ReviewJson.POLICY::read);
        return fields.text();
    }

    private static void requireTexts(JsonFields fields, String name) {
        fields.optionalStrings(name).ifPresent(texts -> {
            String field = fields.place() + name;
            require(texts.size() <= MAX_TOOLS, field, "must have at most " + MAX_TOOLS + " entries");
            require(
                    texts.stream().allMatch(text -> TOOL.matcher(text).matches()),
                    field,
                    "must have entries of 1 to " + MAX_TOOL + " characters, without control characters");
        });
    }

    /// Returns the combined status of a sandbox and its run. The status of the run takes precedence, unless the
    /// sandbox is paused or has ended and the run is not final.
    public static String status(SandboxInfo sandbox, Optional<Run> run) {
        return run.map(Run::status)
                .filter(status -> status.isFinal() || !isFrozen(sandbox))
                .map(Run.Status::text)
                .orElse(sandbox.status().text());
    }

    private static boolean isFrozen(SandboxInfo sandbox) {
        return isHeld(sandbox) || sandbox.status().isFinal();
    }

    private static boolean isHeld(SandboxInfo sandbox) {
        return sandbox.status() == Status.PAUSED || sandbox.status() == Status.HIBERNATED;
    }

    /// Returns the reason of the status, if there is one.
    private static Optional<String> reason(SandboxInfo sandbox, Optional<Run> run) {
        boolean isHeld =
                isHeld(sandbox) && run.filter(known -> known.status().isFinal()).isEmpty();
        return run.flatMap(Run::reason)
                .or(() -> sandbox.end().map(end -> end.sentence()))
                .or(() -> isHeld ? Optional.of(sandbox.stateReason().orElse(Run.HELD)) : Optional.empty());
    }

    /// Reads the run of a sandbox in a response. The API does not contain the process of the worker.
    public static Optional<Run> readRun(JsonFields sandbox) {
        return sandbox.optionalObject("run").map(run -> readRun(sandbox, run));
    }

    /// Reads a [#RUN_ENTRY].
    public static Run readEntry(JsonFields entry) {
        return readRun(entry, entry);
    }

    private static Run readRun(JsonFields sandbox, JsonFields run) {
        return new Run(
                new RunId(run.string("run_id")),
                new SandboxId(sandbox.string("sandbox_id")),
                new TaskId(sandbox.string("task_id")),
                new UserId(sandbox.string("user_id")),
                new ThreadId(sandbox.string("thread_id")),
                new Run.Program(
                        run.required("runtime", RUNTIME),
                        run.findStrings("command").orElse(List.of()),
                        run.optionalString("model")),
                run.required("status", RUN_STATUS),
                run.optionalString("reason"),
                run.optionalString("reason_code"),
                run.optional("budget_usd", DECIMAL),
                readSpent(run),
                run.optionalString("session"),
                Optional.empty(),
                run.time("started_at"),
                run.optionalTime("ended_at"),
                run.optionalTime("last_heartbeat")
                        .map(at -> new Run.Heartbeat(at, run.object("metrics").text())),
                run.optional("guardian", GUARDIAN));
    }

    private static Spent readSpent(JsonFields run) {
        JsonFields usage = run.object("usage");
        return new Spent(
                usage.integer("input_tokens"),
                usage.integer("output_tokens"),
                usage.integer("cache_read_tokens"),
                usage.integer("cache_write_tokens"),
                run.integer("tool_calls"),
                run.optional("cost_usd", DECIMAL).orElse(BigDecimal.ZERO));
    }
}
