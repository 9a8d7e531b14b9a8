package dev.vivarium.sdk;

import dev.vivarium.json.EgressJson;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.RunJson;
import dev.vivarium.json.SessionJson;
import dev.vivarium.json.TaskJson;
import dev.vivarium.model.Egress;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.Limits;
import dev.vivarium.model.Race;
import dev.vivarium.model.Run;
import dev.vivarium.model.TaskPriority;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/// Request to add a task to the queue. Immutable.
///
/// ```
/// var build = TaskRequest.of("Build it").named("build").withCommand(List.of("make"));
/// var test = TaskRequest.of("Test it").withCommand(List.of("make", "test")).after(List.of("build"));
/// client.tasks().addGraph(List.of(build, test));
/// ```
///
/// The server uses its default for each field that is not set.
public final class TaskRequest {
    private static final JsonType<List<String>> STRINGS = JsonType.list(JsonType.STRING);
    private static final JsonType<Map<String, String>> TEXTS = JsonType.map(JsonType.STRING);

    private static final JsonType<Inherit> INHERIT = JsonType.written(Map.of(), TaskRequest::write);

    private final RequestFields fields;

    private TaskRequest(RequestFields fields) {
        this.fields = fields;
    }

    /// A task that a worker outside of the server claims. Select a runtime to let the server run it.
    public static TaskRequest of(String title) {
        return new TaskRequest(RequestFields.NONE).with("title", JsonType.STRING, title);
    }

    /// Sets the name of the task within its graph.
    public TaskRequest named(String name) {
        return with("name", JsonType.STRING, name);
    }

    /// Lets the server run the task with an agent.
    public TaskRequest withRuntime(Run.Runtime runtime) {
        return with("runtime", JsonType.STRING, runtime.text());
    }

    /// Lets the server run this program, with the runtime `command`.
    public TaskRequest withCommand(List<String> command) {
        return withRuntime(Run.Runtime.COMMAND).withProgram(command);
    }

    /// Sets the program of a runtime.
    public TaskRequest withProgram(List<String> command) {
        return with("command", STRINGS, List.copyOf(command));
    }

    public TaskRequest withModel(String model) {
        return with("model", JsonType.STRING, model);
    }

    public TaskRequest withDescription(String text) {
        return with("description", JsonType.STRING, text);
    }

    /// Sets the tasks that must complete first: names of the same graph, or ids.
    public TaskRequest after(List<String> dependencies) {
        return with("depends_on", STRINGS, List.copyOf(dependencies));
    }

    public TaskRequest withPriority(TaskPriority priority) {
        return with("priority", TaskJson.PRIORITY, priority);
    }

    public TaskRequest withAgentType(String type) {
        return with("agent_type", JsonType.STRING, type);
    }

    public TaskRequest withPhase(String phase) {
        return with("phase_id", JsonType.STRING, phase);
    }

    public TaskRequest withTicket(String ticket) {
        return with("ticket_id", JsonType.STRING, ticket);
    }

    /// Sets the limit of each attempt.
    public TaskRequest withTimeout(Duration timeout) {
        return with("timeout_minutes", JsonType.MINUTES, timeout);
    }

    /// Sets the limit of the time in the queue.
    public TaskRequest withQueueTimeout(Duration timeout) {
        return with("queue_timeout_minutes", JsonType.MINUTES, timeout);
    }

    /// Sets the number of attempts after the first one.
    public TaskRequest withMaxRetries(int retries) {
        return with("max_retries", JsonType.INT, retries);
    }

    public TaskRequest withBudget(BigDecimal dollars) {
        return with("budget_usd", JsonType.DECIMAL, dollars);
    }

    public TaskRequest withEnv(Map<String, String> env) {
        return with("env", TEXTS, Map.copyOf(env));
    }

    public TaskRequest withLimits(Limits limits) {
        return with("limits", SessionJson.LOWER_LIMITS, limits);
    }

    public TaskRequest withEgress(Egress egress) {
        return with("egress", EgressJson.EGRESS, egress);
    }

    public TaskRequest withImage(String image) {
        return with("image", JsonType.STRING, image);
    }

    /// Sets information for the agent, a JSON object as text.
    public TaskRequest withContext(String json) {
        return with("context", JsonType.RAW_OBJECT, json);
    }

    /// Sets limits for the agent, a JSON object as text.
    public TaskRequest withConstraints(String json) {
        return with("constraints", JsonType.RAW_OBJECT, json);
    }

    /// Sets how far the guardian may go.
    public TaskRequest withGuardian(GuardianPolicy policy) {
        return with("guardian", RunJson.GUARDIAN, policy);
    }

    public TaskRequest withRepository(RepositoryRequest repository) {
        return with("repository", RepositoryRequest.TYPE, repository);
    }

    /// Lets the task start on the files, or with the conversation, of a task that it depends on.
    public TaskRequest withInherit(Inherit inherit) {
        return with("inherit", INHERIT, inherit);
    }

    /// Lets the server run several attempts at the same time.
    public TaskRequest withRace(Race race) {
        return with("attempts", JsonType.INT, race.attempts()).with("check", STRINGS, race.check());
    }

    /// Sets the owner of a single task, for the admin.
    public TaskRequest ofUser(String user) {
        return with("user_id", JsonType.STRING, user);
    }

    private <T> TaskRequest with(String name, JsonType<T> type, T value) {
        return new TaskRequest(fields.with(name, type, value));
    }

    private static void write(JsonGenerator out, Inherit inherit) {
        out.writeStartObject();
        out.writeStringProperty("from", inherit.from());
        out.writeBooleanProperty("files", inherit.files());
        out.writeBooleanProperty("conversation", inherit.conversation());
        out.writeEndObject();
    }

    void write(JsonGenerator out) {
        fields.write(out);
    }
}
