package dev.vivarium.sdk;

import dev.vivarium.model.OnIdle;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Request to start an agent at a task. Immutable.
///
/// @param runtime     `claude`, `openhands` or `command`
/// @param description the task in full, if it is longer than the title
/// @param user        the owner of a new thread; by default the user of the key
/// @param thread      the thread whose sandbox to use; by default a new one
/// @param budgetUsd   the run ends when it has cost more
/// @param resumeFrom  the sandbox whose conversation to continue
/// @param onIdle      for a new sandbox; by default the setting of the server
/// @param command     the program, for the runtime `command`
public record NewRun(
        String title,
        Optional<String> description,
        String runtime,
        Optional<String> user,
        Optional<String> thread,
        Optional<String> model,
        Optional<String> resumeFrom,
        Optional<BigDecimal> budgetUsd,
        List<String> command,
        Map<String, String> env,
        Optional<OnIdle> onIdle) {
    public NewRun {
        command = List.copyOf(command);
        env = Map.copyOf(env);
    }

    /// A run in a new thread of the caller, without a budget.
    public static NewRun of(String title, String runtime) {
        return new NewRun(
                title,
                Optional.empty(),
                runtime,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Map.of(),
                Optional.empty());
    }

    public NewRun withBudget(BigDecimal wanted) {
        return new NewRun(
                title,
                description,
                runtime,
                user,
                thread,
                model,
                resumeFrom,
                Optional.of(wanted),
                command,
                env,
                onIdle);
    }

    public NewRun withCommand(List<String> wanted) {
        return new NewRun(title, description, runtime, user, thread, model, resumeFrom, budgetUsd, wanted, env, onIdle);
    }

    public NewRun withEnv(Map<String, String> wanted) {
        return new NewRun(
                title, description, runtime, user, thread, model, resumeFrom, budgetUsd, command, wanted, onIdle);
    }

    public NewRun withOnIdle(OnIdle wanted) {
        return new NewRun(
                title,
                description,
                runtime,
                user,
                thread,
                model,
                resumeFrom,
                budgetUsd,
                command,
                env,
                Optional.of(wanted));
    }

    void write(JsonGenerator out) {
        out.writeObjectPropertyStart("task");
        out.writeStringProperty("title", title);
        description.ifPresent(text -> out.writeStringProperty("description", text));
        out.writeEndObject();
        out.writeStringProperty("runtime", runtime);
        user.ifPresent(owner -> out.writeStringProperty("user_id", owner));
        thread.ifPresent(id -> out.writeStringProperty("thread_id", id));
        model.ifPresent(name -> out.writeStringProperty("model", name));
        resumeFrom.ifPresent(sandbox -> out.writeStringProperty("resume_from", sandbox));
        budgetUsd.ifPresent(budget -> out.writeNumberProperty("budget_usd", budget));
        onIdle.ifPresent(wanted -> out.writeStringProperty("on_idle", wanted.text()));
        if (!command.isEmpty()) {
            out.writeArrayPropertyStart("command");
            command.forEach(out::writeString);
            out.writeEndArray();
        }
        if (!env.isEmpty()) {
            out.writeObjectPropertyStart("env");
            env.forEach(out::writeStringProperty);
            out.writeEndObject();
        }
    }
}
