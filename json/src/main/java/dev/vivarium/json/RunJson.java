package dev.vivarium.json;

import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.core.JsonGenerator;

/// JSON form of tasks and runs. Stateless.
public final class RunJson {
    private static final int MOST_TOOLS = 100;
    private static final int LONGEST_TOOL = 200;
    private static final Pattern TOOL = Pattern.compile("[^\\p{Cntrl}]{1," + LONGEST_TOOL + "}");

    /// A year: longer than any sandbox lives, and within the range of every clock.
    private static final int MOST_MINUTES = 366 * 24 * 60;

    private RunJson() {}

    public static NewTask readTask(JsonFields fields) {
        var task = new NewTask(
                fields.string("title"),
                fields.optionalString("description").orElse(""),
                fields.optionalString("type"),
                fields.optionalString("priority"),
                fields.optionalObject("context").map(JsonFields::text).orElse("{}"),
                fields.optionalObject("constraints").map(RunJson::constraints).orElse("{}"));
        fields.refuseOthers();
        return task;
    }

    /// Validates the constraints that workers enforce. All other constraints are for the agent and may have any
    /// form.
    private static String constraints(JsonFields fields) {
        fields.optionalStrings("allowed_tools").ifPresent(tools -> {
            String field = fields.place() + "allowed_tools";
            require(tools.size() <= MOST_TOOLS, field, "must name at most " + MOST_TOOLS + " tools");
            require(
                    tools.stream().allMatch(tool -> TOOL.matcher(tool).matches()),
                    field,
                    "must hold names of tools: 1 to " + LONGEST_TOOL + " characters each, without control characters");
        });
        fields.optionalNumber("time_limit_minutes")
                .ifPresent(minutes -> require(
                        minutes > 0 && minutes <= MOST_MINUTES,
                        fields.place() + "time_limit_minutes",
                        "must be above 0 and at most " + MOST_MINUTES));
        return fields.text();
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw JsonFields.invalid(field, rule);
        }
    }

    /// Writes the fields of a task that its worker sees.
    public static void writeTask(JsonGenerator out, Task task) {
        out.writeStringProperty("task_id", task.id().value());
        out.writeStringProperty("title", task.wanted().title());
        out.writeStringProperty("description", task.wanted().description());
        task.wanted().type().ifPresent(type -> out.writeStringProperty("type", type));
        task.wanted().priority().ifPresent(priority -> out.writeStringProperty("priority", priority));
        raw(out, "context", task.wanted().context());
        raw(out, "constraints", task.wanted().constraints());
        task.result().ifPresent(result -> raw(out, "result", result));
    }

    /// Writes the fields of a task with its status.
    public static void writeWholeTask(JsonGenerator out, Task task) {
        writeTask(out, task);
        out.writeStringProperty("status", task.status().text());
        task.message().ifPresent(message -> out.writeStringProperty("message", message));
        Json.time(out, "created_at", task.createdAt());
        Json.time(out, "updated_at", task.updatedAt());
    }

    /// Returns the combined status of a sandbox and its run. The status of the run takes precedence, unless the
    /// sandbox is paused or has ended and the run is not final.
    public static String status(SandboxInfo sandbox, Optional<Run> run) {
        return run.map(Run::status)
                .filter(status -> status.isFinal() || !isFrozen(sandbox))
                .map(Run.Status::text)
                .orElse(sandbox.status().label());
    }

    private static boolean isFrozen(SandboxInfo sandbox) {
        return sandbox.status() == Status.PAUSED || sandbox.status().isFinal();
    }

    /// Returns the reason of the status, if there is one.
    private static Optional<String> reason(SandboxInfo sandbox, Optional<Run> run) {
        boolean isHeld = sandbox.status() == Status.PAUSED
                && run.filter(known -> known.status().isFinal()).isEmpty();
        return run.flatMap(Run::reason)
                .or(() -> sandbox.end().map(end -> end.sentence()))
                .or(() -> isHeld ? Optional.of(sandbox.stateReason().orElse(Run.HELD)) : Optional.empty());
    }

    /// Writes the fields of a sandbox, and of its run if it has one.
    public static void write(JsonGenerator out, SandboxInfo sandbox, Optional<Run> run, Optional<Task> task) {
        out.writeStringProperty("sandbox_id", sandbox.id().value());
        out.writeStringProperty("thread_id", sandbox.thread().value());
        out.writeStringProperty("user_id", sandbox.user().value());
        out.writeStringProperty("status", status(sandbox, run));
        out.writeStringProperty("state", sandbox.status().label());
        reason(sandbox, run).ifPresent(reason -> out.writeStringProperty("reason", reason));
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

    /// Reads the run of a sandbox that [#write] wrote. The API does not tell the process of the worker.
    public static Optional<Run> readRun(JsonFields sandbox) {
        return sandbox.optionalObject("run").map(run -> readRun(sandbox, run));
    }

    private static Run readRun(JsonFields sandbox, JsonFields run) {
        return new Run(
                new RunId(run.string("run_id")),
                new SandboxId(sandbox.string("sandbox_id")),
                new TaskId(sandbox.string("task_id")),
                new UserId(sandbox.string("user_id")),
                new ThreadId(sandbox.string("thread_id")),
                new Run.Program(
                        SessionJson.constant(Run.Runtime.class, run, "runtime"),
                        run.findStrings("command").orElse(List.of()),
                        run.optionalString("model")),
                SessionJson.constant(Run.Status.class, run, "status"),
                run.optionalString("reason"),
                run.optionalString("reason_code"),
                dollars(run, "budget_usd"),
                readSpent(run),
                run.optionalString("session"),
                Optional.empty(),
                run.time("started_at"),
                run.optionalTime("ended_at"),
                run.optionalTime("last_heartbeat")
                        .map(at -> new Run.Heartbeat(at, run.object("metrics").text())));
    }

    private static Spent readSpent(JsonFields run) {
        JsonFields usage = run.object("usage");
        return new Spent(
                usage.integer("input_tokens"),
                usage.integer("output_tokens"),
                usage.integer("cache_read_tokens"),
                usage.integer("cache_write_tokens"),
                run.integer("tool_calls"),
                dollars(run, "cost_usd").orElse(BigDecimal.ZERO));
    }

    private static Optional<BigDecimal> dollars(JsonFields run, String name) {
        var amount = run.optionalNumber(name);
        return amount.isPresent() ? Optional.of(BigDecimal.valueOf(amount.getAsDouble())) : Optional.empty();
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

    /// The value is a JSON object that this server wrote, so it is copied unchanged.
    private static void raw(JsonGenerator out, String name, String object) {
        out.writeName(name);
        out.writeRawValue(object);
    }
}
