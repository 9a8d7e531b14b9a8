package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.TaskJson;
import dev.vivarium.json.TaskReader;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Tasks of the queue of a server. Thread-safe.
///
/// A worker outside of the server calls [#claim], then [#heartbeat] before its lease lapses, and at the end
/// [#complete] or [#fail].
public final class Tasks {
    private static final String PATH = "/api/v1/tasks";
    private static final int NO_CONTENT = 204;

    private final Transport transport;

    Tasks(Transport transport) {
        this.transport = transport;
    }

    /// A task as the server sent it. Immutable.
    ///
    /// @param json the object that the server sent, with the members that this version does not know
    public record TaskRecord(QueuedTask task, String json) {
        private static TaskRecord read(JsonFields fields) {
            return new TaskRecord(TaskReader.read(fields), fields.text());
        }

        public TaskId id() {
            return task.task().id();
        }

        public Task.Status status() {
            return task.task().status();
        }
    }

    /// A task of a graph that was added. Immutable.
    public record AddedTask(Optional<String> name, TaskId id) {
        private static AddedTask read(JsonFields fields) {
            return new AddedTask(fields.optionalString("name"), new TaskId(fields.string("task_id")));
        }
    }

    /// Selection of tasks. Immutable.
    ///
    /// @param limit  maximum number of tasks in a page, up to 1,000
    /// @param cursor the end of the previous page
    public record Filter(Optional<Task.Status> status, Optional<String> agentType, int limit, Optional<String> cursor) {
        /// The newest tasks.
        public static Filter newest(int limit) {
            return new Filter(Optional.empty(), Optional.empty(), limit, Optional.empty());
        }

        public Filter from(String next) {
            return new Filter(status, agentType, limit, Optional.of(next));
        }

        private String query() {
            return "?limit=" + limit
                    + status.map(wanted -> "&status=" + wanted.text()).orElse("")
                    + agentType
                            .map(type -> "&agent_type=" + Transport.segment(type))
                            .orElse("")
                    + cursor.map(place -> "&cursor=" + Transport.segment(place)).orElse("");
        }
    }

    /// A part of a list of tasks. Immutable.
    ///
    /// @param next the cursor of the next page; absent for the last page
    public record Page(List<TaskRecord> tasks, Optional<String> next) {
        public Page {
            tasks = List.copyOf(tasks);
        }

        private static Page read(JsonFields fields) {
            return new Page(
                    fields.objects("tasks").stream().map(TaskRecord::read).toList(),
                    fields.optionalString("next_cursor"));
        }
    }

    /// Changes of a task that waits. An absent field stays as it is. Immutable.
    public record Edit(
            Optional<String> title,
            Optional<String> description,
            Optional<TaskPriority> priority,
            Optional<Duration> timeout,
            Optional<Duration> queueTimeout,
            Optional<Integer> maxRetries) {
        public static Edit ofPriority(TaskPriority priority) {
            return new Edit(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.of(priority),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());
        }

        private void write(JsonGenerator out) {
            title.ifPresent(text -> out.writeStringProperty("title", text));
            description.ifPresent(text -> out.writeStringProperty("description", text));
            priority.ifPresent(wanted -> out.writeStringProperty("priority", wanted.text()));
            timeout.ifPresent(time -> property(out, "timeout_minutes", JsonType.MINUTES, time));
            queueTimeout.ifPresent(time -> property(out, "queue_timeout_minutes", JsonType.MINUTES, time));
            maxRetries.ifPresent(retries -> out.writeNumberProperty("max_retries", retries));
        }
    }

    /// Tasks that depend on a cancelled task.
    public enum Dependents implements TextEnum {
        /// They are blocked until the task is retried.
        KEEP,
        CANCEL
    }

    /// Request of a worker for a task without a runtime. Immutable.
    ///
    /// @param agentType only tasks of this type
    /// @param lease     time until the task returns to the queue, unless the worker renews the lease
    public record Claim(String worker, Optional<String> agentType, Duration lease) {
        private void write(JsonGenerator out) {
            out.writeStringProperty("worker", worker);
            agentType.ifPresent(type -> out.writeStringProperty("agent_type", type));
            property(out, "lease_s", JsonType.SECONDS, lease);
        }
    }

    public TaskRecord add(TaskRequest request) {
        return transport.post(PATH, request::write, TaskRecord::read);
    }

    /// Adds tasks that depend on each other by name, all or none. Returns their ids in the same order.
    public List<AddedTask> addGraph(List<TaskRequest> tasks) {
        return post(out -> write(out, tasks));
    }

    /// Adds a graph for a user. Needs the key of the admin.
    public List<AddedTask> addGraph(String user, List<TaskRequest> tasks) {
        return post(out -> {
            out.writeStringProperty("user_id", user);
            write(out, tasks);
        });
    }

    /// Adds a graph that is given as a JSON object of the API.
    public List<AddedTask> addGraphJson(String graph) {
        return post(Transport.Body.json(graph));
    }

    private List<AddedTask> post(Consumer<JsonGenerator> graph) {
        return post(Transport.Body.json(graph));
    }

    private List<AddedTask> post(Transport.Body graph) {
        return transport
                .send("POST", PATH + "/graph", Map.of(), graph)
                .read(fields ->
                        fields.objects("tasks").stream().map(AddedTask::read).toList());
    }

    private static void write(JsonGenerator out, List<TaskRequest> tasks) {
        out.writeArrayPropertyStart("tasks");
        for (TaskRequest task : tasks) {
            out.writeStartObject();
            task.write(out);
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// A page of tasks, newest first.
    public Page list(Filter filter) {
        return transport.get(PATH + filter.query(), Page::read);
    }

    public TaskRecord get(String task) {
        return transport.get(path(task), TaskRecord::read);
    }

    /// Changes a task that is pending, ready or blocked.
    public TaskRecord edit(String task, Edit edit) {
        return transport.patch(path(task), edit::write, TaskRecord::read);
    }

    /// Cancels a task and stops its run.
    public TaskRecord cancel(String task, Dependents dependents) {
        return transport.post(
                path(task) + "/cancel",
                out -> out.writeStringProperty("dependents", dependents.text()),
                TaskRecord::read);
    }

    /// Starts a failed or cancelled task again.
    public TaskRecord retry(String task) {
        return transport.post(path(task) + "/retry", out -> {}, TaskRecord::read);
    }

    /// All tasks that are connected with a task by dependencies, oldest first.
    public List<TaskRecord> graph(String task) {
        return transport.get(path(task) + "/graph", Page::read).tasks();
    }

    /// The events of the tasks of the caller that the log has now.
    public EventStream events(long after) {
        return new StoredEvents(transport, PATH + "/events?", after);
    }

    /// Claims the next task without a runtime, if there is one. Its last attempt is that of the worker.
    public Optional<TaskRecord> claim(Claim claim) {
        Response response = transport
                .send("POST", PATH + "/claim", Map.of(), Transport.Body.json(claim::write))
                .requireSuccess();
        if (response.status() == NO_CONTENT) {
            response.close();
            return Optional.empty();
        }
        return Optional.of(response.read(TaskRecord::read));
    }

    /// Renews the lease of a claimed task.
    public TaskRecord heartbeat(String task, int attempt, Duration lease) {
        return report(task, "heartbeat", attempt, out -> property(out, "lease_s", JsonType.SECONDS, lease));
    }

    /// Completes a claimed task.
    ///
    /// @param result a JSON object as text
    public TaskRecord complete(String task, int attempt, Optional<String> result) {
        return report(
                task,
                "complete",
                attempt,
                out -> result.ifPresent(json -> property(out, "result", JsonType.RAW_OBJECT, json)));
    }

    /// Reports that the attempt failed. The class of the error decides about a retry.
    public TaskRecord fail(String task, int attempt, TaskError.Kind kind, String message) {
        return report(task, "fail", attempt, out -> {
            out.writeStringProperty("error_message", message);
            property(out, "error_class", TaskJson.ERROR_CLASS, kind);
        });
    }

    private TaskRecord report(String task, String verb, int attempt, Consumer<JsonGenerator> more) {
        return transport.post(
                path(task) + "/" + verb,
                out -> {
                    out.writeNumberProperty("attempt", attempt);
                    more.accept(out);
                },
                TaskRecord::read);
    }

    private static <T> void property(JsonGenerator out, String name, JsonType<T> type, T value) {
        out.writeName(name);
        type.write(out, value);
    }

    private static String path(String task) {
        return PATH + "/" + Transport.segment(task);
    }
}
