package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.RUN_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.DECIMAL;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.MINUTES;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.Inherit;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Race;
import dev.vivarium.model.Run;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.TaskSchedule;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// JSON form of the tasks of the queue. Stateless.
public final class TaskJson {
    /// Maximum size of the results of dependencies in the context of a task, in characters.
    private static final int MAX_RESULTS = 512 * 1024;

    private static final String PHASE = "phase_id";

    public static final JsonType<Task.Status> STATUS = constants(Task.Status.class);
    public static final JsonType<TaskPriority> PRIORITY =
            constants(TaskPriority.class, TaskPriority::text, "must be low, medium, high or critical");
    public static final JsonType<TaskError.Kind> ERROR_CLASS =
            constants(TaskError.Kind.class, TaskError.Kind::text, "must be transient, permanent or unknown");

    static final ObjectType<Inherit> INHERIT = ObjectType.<Inherit>object(
                    "TaskInheritance",
                    field("from", STRING, "The name or id of one of the tasks in `depends_on`.", Inherit::from),
                    optional("files", BOOLEAN, "Start on a fork of its disk.", inherit -> Optional.of(inherit.files())),
                    optional(
                            "conversation",
                            BOOLEAN,
                            "Continue its conversation. Both tasks need the same runtime.",
                            inherit -> Optional.of(inherit.conversation())))
            .readBy(TaskJson::readInherit)
            .closed();

    static final ObjectType<Race> RACE = object(
            "TaskRace", Race::new, field("attempts", INT, Race::attempts), field("check", list(STRING), Race::check));

    private static final ObjectType<Object> PLAN = object(
            "",
            field("title", STRING),
            optional("description", STRING),
            optional("type", STRING),
            optional("runtime", RunJson.RUNTIME, """
                    The agent that the server runs for the task. Without it, a worker outside of the server claims \
                    the task."""),
            optional("command", list(STRING), "The program and its arguments, for the runtime `command`."),
            optional("model", STRING),
            optional("priority", PRIORITY, "`medium` by default. Each step counts as ten minutes in the queue."),
            optional(PHASE, STRING, "Kept in `context`."),
            optional(RunJson.TICKET, STRING, "Kept in `context`."),
            optional(RunJson.AGENT_TYPE, STRING, "The server can limit the running tasks of one type."),
            optional("timeout_minutes", MINUTES, "Time limit of each attempt; 60 by default."),
            optional("queue_timeout_minutes", MINUTES, "The task fails if it is ready for longer than this."),
            optional("max_retries", INT.range(0, 20), "Attempts after the first one; 3 by default."),
            optional("context", RAW_OBJECT.with("additionalProperties", true)),
            optional("constraints", RunJson.CONSTRAINTS),
            optional(ReviewJson.POLICY_NAME, ReviewJson.POLICY, "Kept in `constraints`."),
            optional("env", JsonType.map(STRING), "Stored encrypted. Responses do not contain it."),
            optional("limits", SessionJson.LOWER_LIMITS, "Lower limits than the server's."),
            optional("egress", EgressJson.EGRESS),
            optional("image", STRING),
            optional("budget_usd", DECIMAL),
            optional("guardian", RunJson.GUARDIAN, "The policy of its runs; that of the server by default."),
            optional("repository", GitJson.NEW_REPOSITORY),
            optional("inherit", INHERIT, "What the task takes over from a task that it depends on."),
            optional("attempts", INT.range(2, 8), """
                    Starts this number of attempts at the same time. The first one whose `check` exits with 0 wins; \
                    the server stops the others."""),
            optional("check", list(STRING), "The program that checks an attempt of a race, and its arguments."));

    /// A task to add.
    public static final ObjectType<Object> NEW_TASK = PLAN.and(
                    "NewQueuedTask",
                    object(
                            "",
                            optional("depends_on", list(STRING), "Ids of the tasks that must complete first."),
                            optional("user_id", STRING, "The owner, for the admin.")))
            .with("additionalProperties", false);

    /// A graph of tasks to add.
    public static final ObjectType<Object> GRAPH = object(
                    "NewTaskGraph",
                    field(
                            "tasks",
                            list(PLAN.and(
                                            "NewGraphTask",
                                            object(
                                                    "",
                                                    optional("name", STRING, "Unique within the graph."),
                                                    optional("depends_on", list(STRING), "Names or task ids.")))
                                    .with("additionalProperties", false))),
                    optional("user_id", STRING, "The owner, for the admin."))
            .with("additionalProperties", false);

    private static final ObjectType<TaskAttempt> ATTEMPT = object(
            "TaskAttempt",
            field("attempt", INT, TaskAttempt::number),
            optional("run_id", RUN_ID, TaskAttempt::run),
            optional("sandbox_id", SANDBOX_ID, TaskAttempt::sandbox),
            optional("worker", STRING, "The worker that claimed the task.", TaskAttempt::worker),
            field("status", constants(TaskAttempt.Status.class), TaskAttempt::status),
            field("started_at", TIME, TaskAttempt::startedAt),
            optional("ended_at", TIME, TaskAttempt::endedAt),
            optional("lease_expires_at", TIME, TaskAttempt::leaseUntil),
            optional("error_class", ERROR_CLASS, attempt -> attempt.error().map(TaskError::kind)),
            optional("error_code", STRING, attempt -> attempt.error().map(TaskError::code)),
            optional("error_message", STRING, attempt -> attempt.error().map(TaskError::message)),
            field("cost_usd", DECIMAL, TaskAttempt::costUsd));

    /// A task of the queue.
    public static final ObjectType<QueuedTask> TASK = object(
            "QueuedTask",
            field("task_id", TASK_ID, entry -> entry.task().id()),
            field("user_id", USER_ID, entry -> entry.task().owner()),
            field("title", STRING, entry -> entry.task().wanted().title()),
            field("description", STRING, entry -> entry.task().wanted().description()),
            field("status", STATUS, entry -> entry.task().status()),
            optional(
                    "message",
                    STRING,
                    "The reason of the status.",
                    entry -> entry.task().message()),
            field("priority", PRIORITY, entry -> entry.plan().schedule().priority()),
            field("depends_on", list(TASK_ID), QueuedTask::dependsOn),
            optional("type", STRING, entry -> entry.task().wanted().type()),
            optional(PHASE, STRING, entry -> RunJson.word(entry.task(), PHASE)),
            optional(RunJson.TICKET, STRING, entry -> RunJson.word(entry.task(), RunJson.TICKET)),
            optional(
                    RunJson.AGENT_TYPE, STRING, entry -> entry.plan().schedule().agentType()),
            optional("runtime", RunJson.RUNTIME, entry -> entry.plan().program().map(Run.Program::runtime)),
            optional(
                    "command",
                    list(STRING),
                    entry -> entry.plan().program().map(Run.Program::command).filter(command -> !command.isEmpty())),
            optional("model", STRING, entry -> entry.plan().program().flatMap(Run.Program::model)),
            field("timeout_minutes", MINUTES, entry -> entry.plan().schedule().runTimeout()),
            optional(
                    "queue_timeout_minutes",
                    MINUTES,
                    entry -> entry.plan().schedule().queueTimeout()),
            field("max_retries", INT, entry -> entry.plan().schedule().maxRetries()),
            optional("budget_usd", DECIMAL, entry -> entry.plan().budgetUsd()),
            optional("guardian", RunJson.GUARDIAN, entry -> entry.plan().guardian()),
            optional("repository", GitJson.REPOSITORY, entry -> entry.plan().repository()),
            optional("inherit", INHERIT, entry -> entry.plan().inherit()),
            optional("race", RACE, entry -> entry.plan().race()),
            field("context", RAW_OBJECT, entry -> entry.task().wanted().context()),
            field("constraints", RAW_OBJECT, entry -> entry.task().wanted().constraints()),
            optional(ReviewJson.POLICY_NAME, ReviewJson.POLICY, entry -> ReviewJson.policy(entry.task())),
            field("attempts", list(ATTEMPT), QueuedTask::attempts),
            optional("sandbox_id", SANDBOX_ID, "The sandbox of the newest attempt.", QueuedTask::sandbox),
            optional("result", RAW_OBJECT, entry -> entry.task().result()),
            field("cost_usd", DECIMAL, "The cost of all attempts.", QueuedTask::costUsd),
            optional("next_attempt_at", TIME, QueuedTask::nextAttemptAt),
            field("created_at", TIME, entry -> entry.task().createdAt()),
            field("updated_at", TIME, entry -> entry.task().updatedAt()));

    private TaskJson() {}

    /// Reads a task to add, without `user_id`.
    ///
    /// @param standard the default limits of a sandbox
    public static NewQueuedTask readNew(JsonFields fields, Limits standard) {
        var priority = fields.optional("priority", PRIORITY).orElse(TaskPriority.MEDIUM);
        NewTask task = RunJson.readTask(fields);
        String context = fields.optionalString(PHASE)
                .map(phase -> Json.answer(task.context()).with(PHASE, phase).text())
                .orElse(task.context());
        var plan = new TaskPlan(
                program(fields),
                new TaskSchedule(
                        priority,
                        fields.optionalString(RunJson.AGENT_TYPE),
                        fields.optional("timeout_minutes", MINUTES).orElse(TaskSchedule.RUN_TIMEOUT),
                        fields.optional("queue_timeout_minutes", MINUTES),
                        fields.optional("max_retries", INT).orElse(TaskSchedule.RETRIES)),
                new TaskSandbox(
                        fields.optional("env", ExecJson.ENVIRONMENT).orElse(Map.of()),
                        fields.optionalObject("limits").map(limits -> SessionJson.readLimits(limits, standard)),
                        fields.optional("egress", EgressJson.EGRESS),
                        fields.optionalString("image")),
                fields.optional("budget_usd", DECIMAL),
                fields.optional("guardian", RunJson.GUARDIAN),
                fields.optional("repository", GitJson.NEW_REPOSITORY),
                fields.optional("inherit", INHERIT),
                race(fields));
        return new NewQueuedTask(
                fields.optionalString("name"),
                new NewTask(
                        task.title(),
                        task.description(),
                        task.type(),
                        Optional.of(priority.text()),
                        context,
                        task.constraints()),
                plan,
                fields.optionalStrings("depends_on").orElse(List.of()));
    }

    private static Inherit readInherit(JsonFields fields) {
        return new Inherit(
                fields.string("from"),
                fields.optionalFlag("files").orElse(false),
                fields.optionalFlag("conversation").orElse(false));
    }

    private static Optional<Race> race(JsonFields fields) {
        Optional<Integer> attempts = fields.optional("attempts", INT);
        Optional<List<String>> check = fields.optionalStrings("check");
        require(attempts.isPresent() || check.isEmpty(), "attempts", "is required with check");
        require(check.isPresent() || attempts.isEmpty(), "check", "is required with attempts");
        return attempts.map(number -> new Race(number, check.orElseThrow()));
    }

    private static Optional<Run.Program> program(JsonFields fields) {
        var command = fields.optionalStrings("command").orElse(List.of());
        var model = fields.optionalString("model");
        return fields.optional("runtime", RunJson.RUNTIME).map(runtime -> new Run.Program(runtime, command, model));
    }

    /// Returns the context of a task for its worker, a JSON object as text. It contains the results of the tasks
    /// that the task depends on, as `dependencies`.
    static String context(Task task, List<Task> dependencies) {
        String context = task.wanted().context();
        if (dependencies.isEmpty()) {
            return context;
        }
        var room = new int[] {MAX_RESULTS};
        var entries = dependencies.stream()
                .map(other -> dependency(
                        other, (room[0] -= other.result().map(String::length).orElse(0)) >= 0))
                .toList();
        return Json.answer(context).with("dependencies", entries).text();
    }

    private static JsonFields dependency(Task task, boolean hasRoom) {
        return Json.answer(new String(
                Json.bytes(out -> {
                    out.writeStringProperty("task_id", task.id().value());
                    out.writeStringProperty("title", task.wanted().title());
                    out.writeStringProperty("status", task.status().text());
                    if (!hasRoom) {
                        out.writeBooleanProperty("result_omitted", true);
                    } else if (task.result().isPresent()) {
                        out.writeName("result");
                        out.writeRawValue(task.result().get());
                    }
                }),
                StandardCharsets.UTF_8));
    }
}
