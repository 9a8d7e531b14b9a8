package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.MINUTES;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.task.Dependents;
import dev.vivarium.core.task.TaskFilter;
import dev.vivarium.core.task.TaskQueue;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.TaskJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.UserTasks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// `/api/v1/tasks`: the tasks of the queue and their events. Thread-safe.
public final class TasksHandler {
    private static final int MAX_PAGE = 1000;

    private static final ObjectType<ListPage<QueuedTask>> TASKS = ListPage.type("QueuedTasks", "tasks", TaskJson.TASK);

    private static final ObjectType<Added> ADDED =
            object("AddedTask", optional("name", STRING, Added::name), field("task_id", TASK_ID, Added::id));

    private record Added(Optional<String> name, TaskId id) {}

    private static final ObjectType<List<Added>> ADDED_GRAPH =
            object("AddedTasks", field("tasks", JsonType.list(ADDED), added -> added));

    private static final ObjectType<TaskQueue.Edit> EDIT_FIELDS = ObjectType.<TaskQueue.Edit>object(
                    "TaskEdit",
                    optional("title", STRING, TaskQueue.Edit::title),
                    optional("description", STRING, TaskQueue.Edit::description),
                    optional("priority", TaskJson.PRIORITY, TaskQueue.Edit::priority),
                    optional("timeout_minutes", MINUTES, TaskQueue.Edit::runTimeout),
                    optional("queue_timeout_minutes", MINUTES, TaskQueue.Edit::queueTimeout),
                    optional("max_retries", INT.range(0, 20), TaskQueue.Edit::maxRetries))
            .readBy(TasksHandler::readEdit)
            .closed();

    private static final JsonType<Dependents> DEPENDENTS =
            JsonType.constants(Dependents.class, Dependents::text, "must be cancel or keep");

    private static final ObjectType<Cancellation> CANCELLATION = object(
                    "TaskCancellation",
                    Cancellation::new,
                    optional("dependents", DEPENDENTS, """
                            `cancel` cancels all tasks that depend on the task. `keep`, the default, blocks them until \
                            the task is retried.""", Cancellation::dependents))
            .closed();

    private record Cancellation(Optional<Dependents> dependents) {}

    private static final ObjectType<Event> EVENT = object(
            "TaskEvent",
            field("id", STRING, Event::id),
            field("seq", LONG, Event::seq),
            field("event_type", STRING, Event::type),
            field("event_data", RAW_OBJECT, Event::data),
            field("source", STRING, Event::source),
            field("created_at", TIME, Event::at));

    private static final ObjectType<List<Event>> EVENT_PAGE =
            object("TaskEvents", field("events", JsonType.list(EVENT), events -> events));

    public static final RouteDescription ADD = RouteDescription.post("/api/v1/tasks", KEY)
            .named("addTask", "Add a task to the queue")
            .text("""
                    If the task has a `runtime`, the server runs it as soon as its dependencies are completed. \
                    Otherwise a worker claims it.""")
            .takes(TaskJson.NEW_TASK)
            .answers(201, "The task.", TaskJson.TASK)
            .fails(403, 422, 501);

    public static final RouteDescription ADD_GRAPH = RouteDescription.post("/api/v1/tasks/graph", KEY)
            .named("addTaskGraph", "Add a graph of tasks to the queue")
            .text("""
                    Adds all tasks or none, at most 1000. A cycle, an unknown dependency and a dependency of a task on \
                    itself are rejected.""")
            .takes(TaskJson.GRAPH)
            .answers(201, "The ids of the tasks, in the order of the request.", ADDED_GRAPH)
            .fails(403, 422, 501);

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/tasks", KEY)
            .named("listTasks", "List the tasks of the queue, newest first")
            .query("status", TaskJson.STATUS, "Only tasks with this status.")
            .query("agent_type", STRING, "Only tasks of this type.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .query("cursor", STRING, ListPage.CURSOR_TEXT)
            .answers(200, "A page of tasks.", TASKS);

    public static final RouteDescription EVENTS = RouteDescription.get("/api/v1/tasks/events", KEY)
            .named("listTaskEvents", "List the events of the tasks of a user, oldest first")
            .text("The feed `GET /api/v1/events` has the same events as they happen.")
            .query("after_seq", LONG, "The last number that the client received; 0 by default.")
            .query("user_id", STRING, "The owner of the tasks, for the admin.")
            .query("limit", PageQuery.LIMIT, "Maximum number of events.")
            .answers(200, "A page of events. An empty page is the last.", EVENT_PAGE)
            .fails(403);

    public static final RouteDescription GET = RouteDescription.get("/api/v1/tasks/{task_id}", KEY)
            .named("getTask", "Find a task with its attempts and its result")
            .answers(200, "The task.", TaskJson.TASK)
            .fails(404);

    public static final RouteDescription EDIT = RouteDescription.patch("/api/v1/tasks/{task_id}", KEY)
            .named("editTask", "Change a task that waits")
            .text("Only a task with the status `pending`, `ready` or `blocked` can be changed.")
            .takes(EDIT_FIELDS)
            .answers(200, "The task.", TaskJson.TASK)
            .fails(404, 409, 422);

    public static final RouteDescription CANCEL = RouteDescription.post("/api/v1/tasks/{task_id}/cancel", KEY)
            .named("cancelTask", "Cancel a task and stop its run")
            .takesOptional(CANCELLATION)
            .answers(202, "The task. Its last attempt ends a moment later.", TaskJson.TASK)
            .fails(404, 409, 422);

    public static final RouteDescription RETRY = RouteDescription.post("/api/v1/tasks/{task_id}/retry", KEY)
            .named("retryTask", "Start a failed or cancelled task again")
            .text("The tasks that it blocked wait for it again.")
            .answers(202, "The task.", TaskJson.TASK)
            .fails(404, 409);

    public static final RouteDescription GRAPH = RouteDescription.get("/api/v1/tasks/{task_id}/graph", KEY)
            .named("getTaskGraph", "List the tasks that are connected with a task by dependencies")
            .answers(200, "The tasks, oldest first.", TASKS)
            .fails(404);

    private final UserTasks tasks;
    private final EventLog log;
    private final Limits standard;

    /// @param standard the default limits of a sandbox
    public TasksHandler(UserTasks tasks, EventLog log, Limits standard) {
        this.tasks = tasks;
        this.log = log;
        this.standard = standard;
    }

    public void add(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        UserId owner = owner(exchange, fields.optionalString("user_id"));
        NewQueuedTask task = read(fields, owner, "");
        TaskId id = tasks.add(exchange.principal(), owner, List.of(task)).getFirst();
        exchange.answer(201, TaskJson.TASK, tasks.get(exchange.principal(), id.value()));
    }

    public void addGraph(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        UserId owner = owner(exchange, fields.optionalString("user_id"));
        List<JsonFields> all = fields.objects("tasks");
        fields.refuseOthers();
        var graph = new ArrayList<NewQueuedTask>();
        for (int i = 0; i < all.size(); i++) {
            graph.add(read(all.get(i), owner, "tasks[" + i + "]."));
        }
        List<TaskId> ids = tasks.add(exchange.principal(), owner, graph);
        var added = new ArrayList<Added>();
        for (int i = 0; i < ids.size(); i++) {
            added.add(new Added(graph.get(i).name(), ids.get(i)));
        }
        exchange.answer(201, ADDED_GRAPH, added);
    }

    private static UserId owner(Exchange exchange, Optional<String> wanted) {
        return wanted.map(UserId::new).orElseGet(() -> exchange.principal().name());
    }

    /// Reads and checks a task. An error names the place of the field in the request.
    private NewQueuedTask read(JsonFields fields, UserId owner, String place) {
        try {
            NewQueuedTask task = TaskJson.readNew(fields, standard);
            fields.refuseOthers();
            tasks.check(owner, task.plan());
            return task;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule)) {
                String name = field.startsWith("task.") ? field.substring("task.".length()) : field;
                throw new SandboxException(
                        new Failure.InvalidRequest(name.startsWith(place) ? name : place + name, rule), e);
            }
            throw e;
        }
    }

    public void list(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var found = tasks.list(
                exchange.principal(),
                new TaskFilter(
                        Optional.empty(),
                        exchange.optionalQuery("status", TaskJson.STATUS),
                        exchange.optionalQuery("agent_type"),
                        PageQuery.cursor(exchange),
                        limit + 1));
        exchange.answer(200, TASKS, ListPage.of(found, limit, TaskFilter::place));
    }

    public void events(Exchange exchange) throws IOException {
        UserId owner = owner(exchange, exchange.optionalQuery("user_id"));
        if (!exchange.principal().mayActFor(owner)) {
            throw new SandboxException(new Failure.NotAllowed("only the admin reads the tasks of other users"));
        }
        long after = PageQuery.number(exchange, "after_seq").orElse(0L);
        exchange.answer(
                200, EVENT_PAGE, log.read(new TaskLog(owner), Query.after(after, PageQuery.limit(exchange, MAX_PAGE))));
    }

    public void get(Exchange exchange) throws IOException {
        exchange.answer(200, TaskJson.TASK, tasks.get(exchange.principal(), exchange.path("task_id")));
    }

    public void edit(Exchange exchange) throws IOException {
        var edit = exchange.json(EDIT_FIELDS);
        exchange.answer(200, TaskJson.TASK, tasks.edit(exchange.principal(), exchange.path("task_id"), edit));
    }

    private static TaskQueue.Edit readEdit(JsonFields fields) {
        return new TaskQueue.Edit(
                fields.optionalString("title"),
                fields.optionalString("description"),
                fields.optional("priority", TaskJson.PRIORITY),
                fields.optional("timeout_minutes", MINUTES),
                fields.optional("queue_timeout_minutes", MINUTES),
                fields.optional("max_retries", INT));
    }

    public void cancel(Exchange exchange) throws IOException {
        var dependents = exchange.optionalJson(CANCELLATION).dependents().orElse(Dependents.KEEP);
        exchange.answer(202, TaskJson.TASK, tasks.cancel(exchange.principal(), exchange.path("task_id"), dependents));
    }

    public void retry(Exchange exchange) throws IOException {
        exchange.answer(202, TaskJson.TASK, tasks.retry(exchange.principal(), exchange.path("task_id")));
    }

    public void graph(Exchange exchange) throws IOException {
        var all = tasks.graph(exchange.principal(), exchange.path("task_id"));
        exchange.answer(200, TASKS, ListPage.whole(all));
    }
}
