package dev.vivarium.json;

import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Tasks and runs as the API says them. Stateless.
public final class RunJson {
    private RunJson() {}

    /// What an agent is asked to do.
    public static NewTask readTask(JsonFields fields) {
        var task = new NewTask(
                fields.string("title"),
                fields.optionalString("description").orElse(""),
                fields.optionalString("type"),
                fields.optionalString("priority"),
                fields.optionalObject("context").map(JsonFields::text).orElse("{}"),
                fields.optionalObject("constraints").map(JsonFields::text).orElse("{}"));
        fields.refuseOthers();
        return task;
    }

    /// A task as its worker sees it, between the braces.
    public static void writeTask(JsonGenerator out, Task task) {
        out.writeStringProperty("task_id", task.id().value());
        out.writeStringProperty("title", task.wanted().title());
        out.writeStringProperty("description", task.wanted().description());
        task.wanted().type().ifPresent(type -> out.writeStringProperty("type", type));
        task.wanted().priority().ifPresent(priority -> out.writeStringProperty("priority", priority));
        raw(out, "context", task.wanted().context());
        raw(out, "constraints", task.wanted().constraints());
    }

    /// The same with what became of it.
    public static void writeWholeTask(JsonGenerator out, Task task) {
        writeTask(out, task);
        out.writeStringProperty("status", task.status().text());
        task.message().ifPresent(message -> out.writeStringProperty("message", message));
        task.result().ifPresent(result -> raw(out, "result", result));
        Json.time(out, "created_at", task.createdAt());
        Json.time(out, "updated_at", task.updatedAt());
    }

    /// How a sandbox and its run stand, in one word: the run's, once it has one.
    public static String status(SandboxInfo sandbox, Optional<Run> run) {
        return run.map(Run::status)
                .filter(status -> status.isFinal() || !isFrozen(sandbox))
                .map(Run.Status::text)
                .orElse(sandbox.status().label());
    }

    private static boolean isFrozen(SandboxInfo sandbox) {
        return sandbox.status() == Status.PAUSED || sandbox.status().isFinal();
    }

    /// A sandbox with its run, if it has one, between the braces.
    public static void write(JsonGenerator out, SandboxInfo sandbox, Optional<Run> run, Optional<Task> task) {
        out.writeStringProperty("sandbox_id", sandbox.id().value());
        out.writeStringProperty("thread_id", sandbox.thread().value());
        out.writeStringProperty("user_id", sandbox.user().value());
        out.writeStringProperty("status", status(sandbox, run));
        out.writeStringProperty("state", sandbox.status().label());
        run.flatMap(Run::reason)
                .or(() -> sandbox.end().map(end -> end.sentence()))
                .ifPresent(reason -> out.writeStringProperty("reason", reason));
        Json.time(out, "created_at", sandbox.createdAt());
        Json.time(out, "last_activity", sandbox.lastActivity());
        Json.time(out, "expires_at", sandbox.expiresAt());
        out.writeStringProperty("expires_by", sandbox.expiresAt().isBefore(sandbox.endsAt()) ? "idle" : "lifetime");
        Json.time(out, "ends_at", sandbox.endsAt());
        SessionJson.writeLimits(out, sandbox.limits());
        sandbox.end().ifPresent(end -> SessionJson.writeEnd(out, end));
        run.ifPresent(known -> {
            out.writeStringProperty("task_id", known.task().value());
            out.writeStringProperty("runtime", known.program().runtime().text());
            out.writeObjectPropertyStart("run");
            write(out, known);
            task.ifPresent(asked -> {
                out.writeObjectPropertyStart("task");
                writeWholeTask(out, asked);
                out.writeEndObject();
            });
            out.writeEndObject();
        });
    }

    private static void write(JsonGenerator out, Run run) {
        out.writeStringProperty("run_id", run.id().value());
        out.writeStringProperty("runtime", run.program().runtime().text());
        if (!run.program().command().isEmpty()) {
            out.writeArrayPropertyStart("command");
            run.program().command().forEach(out::writeString);
            out.writeEndArray();
        }
        run.program().model().ifPresent(model -> out.writeStringProperty("model", model));
        out.writeStringProperty("status", run.status().text());
        run.reason().ifPresent(reason -> out.writeStringProperty("reason", reason));
        run.reasonCode().ifPresent(code -> out.writeStringProperty("reason_code", code));
        write(out, run.spent());
        run.budgetUsd().ifPresent(budget -> out.writeNumberProperty("budget_usd", budget));
        run.session().ifPresent(session -> out.writeStringProperty("session", session));
        Json.time(out, "started_at", run.startedAt());
        run.endedAt().ifPresent(at -> Json.time(out, "ended_at", at));
        run.heartbeat().ifPresent(beat -> {
            Json.time(out, "last_heartbeat", beat.at());
            raw(out, "metrics", beat.metrics());
        });
    }

    private static void write(JsonGenerator out, Spent spent) {
        out.writeNumberProperty("cost_usd", spent.costUsd());
        out.writeNumberProperty("tokens", spent.tokens());
        out.writeNumberProperty("tool_calls", spent.toolCalls());
        out.writeObjectPropertyStart("usage");
        out.writeNumberProperty("input_tokens", spent.inputTokens());
        out.writeNumberProperty("output_tokens", spent.outputTokens());
        out.writeNumberProperty("cache_read_tokens", spent.cacheReadTokens());
        out.writeNumberProperty("cache_write_tokens", spent.cacheWriteTokens());
        out.writeEndObject();
    }

    /// It is an object already, written by us.
    private static void raw(JsonGenerator out, String name, String object) {
        out.writeName(name);
        out.writeRawValue(object);
    }
}
