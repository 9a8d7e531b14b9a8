package dev.vivarium.sdk;

import dev.vivarium.json.JsonType;
import dev.vivarium.json.RunJson;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.OnIdle;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/// Request to start an agent at a task. Immutable.
///
/// The server uses its default for each field that is not set.
public final class NewRun {
    private static final JsonType<List<String>> STRINGS = JsonType.list(JsonType.STRING);
    private static final JsonType<Map<String, String>> TEXTS = JsonType.map(JsonType.STRING);

    private final RequestFields task;
    private final RequestFields fields;

    private NewRun(RequestFields task, RequestFields fields) {
        this.task = task;
        this.fields = fields;
    }

    /// A run in a new thread of the caller, without a budget.
    ///
    /// @param runtime `claude`, `openhands` or `command`
    public static NewRun of(String title, String runtime) {
        return new NewRun(
                RequestFields.NONE.with("title", JsonType.STRING, title),
                RequestFields.NONE.with("runtime", JsonType.STRING, runtime));
    }

    /// Sets the task in full, if it is longer than the title.
    public NewRun withDescription(String text) {
        return ofTask("description", text);
    }

    /// Sets the label `ticket_id` of the task.
    public NewRun withTicket(String ticket) {
        return ofTask("ticket_id", ticket);
    }

    /// Sets the owner of a new thread, for the admin.
    public NewRun ofUser(String user) {
        return with("user_id", JsonType.STRING, user);
    }

    /// Sets the thread whose sandbox the run uses.
    public NewRun inThread(String thread) {
        return with("thread_id", JsonType.STRING, thread);
    }

    public NewRun withModel(String model) {
        return with("model", JsonType.STRING, model);
    }

    /// Continues the conversation of this sandbox.
    public NewRun resumingFrom(String sandbox) {
        return with("resume_from", JsonType.STRING, sandbox);
    }

    /// Ends the run when it has cost more.
    public NewRun withBudget(BigDecimal dollars) {
        return with("budget_usd", JsonType.DECIMAL, dollars);
    }

    /// Sets the program, for the runtime `command`.
    public NewRun withCommand(List<String> command) {
        return with("command", STRINGS, List.copyOf(command));
    }

    public NewRun withEnv(Map<String, String> env) {
        return with("env", TEXTS, Map.copyOf(env));
    }

    /// Sets what happens to a new sandbox that is idle.
    public NewRun withOnIdle(OnIdle action) {
        return with("on_idle", SessionJson.ON_IDLE, action);
    }

    /// Sets how far the guardian may go.
    public NewRun withGuardian(GuardianPolicy policy) {
        return with("guardian", RunJson.GUARDIAN, policy);
    }

    public NewRun withRepository(RepositoryRequest repository) {
        return with("repository", RepositoryRequest.TYPE, repository);
    }

    private NewRun ofTask(String name, String value) {
        return new NewRun(task.with(name, JsonType.STRING, value), fields);
    }

    private <T> NewRun with(String name, JsonType<T> type, T value) {
        return new NewRun(task, fields.with(name, type, value));
    }

    void write(JsonGenerator out) {
        out.writeObjectPropertyStart("task");
        task.write(out);
        out.writeEndObject();
        fields.write(out);
    }
}
