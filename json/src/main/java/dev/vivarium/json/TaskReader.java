package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.RUN_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.JsonType.DECIMAL;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.MINUTES;
import static dev.vivarium.json.JsonType.constants;

import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Repository;
import dev.vivarium.model.Run;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.TaskSchedule;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Reader of the tasks in responses, which [TaskJson#TASK] writes. Stateless.
///
/// A response has neither the environment nor the limits of the sandbox of a task.
public final class TaskReader {
    private static final Set<String> REPOSITORY =
            Set.of("url", "base", "branch", "ticket", "credential", "depth", "on_success");

    private TaskReader() {}

    public static QueuedTask read(JsonFields fields) {
        return new QueuedTask(
                task(fields),
                plan(fields),
                fields.findStrings("depends_on").orElse(List.of()).stream()
                        .map(TaskId::new)
                        .toList(),
                fields.objects("attempts").stream().map(TaskReader::attempt).toList(),
                fields.optionalTime("next_attempt_at"));
    }

    private static Task task(JsonFields fields) {
        var wanted = new NewTask(
                fields.string("title"),
                fields.string("description"),
                fields.optionalString("type"),
                fields.optionalString("priority"),
                fields.object("context").text(),
                fields.object("constraints").text());
        return new Task(
                new TaskId(fields.string("task_id")),
                new UserId(fields.string("user_id")),
                wanted,
                fields.required("status", TaskJson.STATUS),
                Optional.empty(),
                fields.optionalString("message"),
                fields.optionalObject("result").map(JsonFields::text),
                fields.time("created_at"),
                fields.time("updated_at"));
    }

    private static TaskPlan plan(JsonFields fields) {
        return new TaskPlan(
                fields.optional("runtime", RunJson.RUNTIME)
                        .map(runtime -> new Run.Program(
                                runtime,
                                fields.findStrings("command").orElse(List.of()),
                                fields.optionalString("model"))),
                new TaskSchedule(
                        fields.optional("priority", TaskJson.PRIORITY).orElse(TaskPriority.MEDIUM),
                        fields.optionalString(RunJson.AGENT_TYPE),
                        fields.optional("timeout_minutes", MINUTES).orElse(TaskSchedule.RUN_TIMEOUT),
                        fields.optional("queue_timeout_minutes", MINUTES),
                        fields.optional("max_retries", INT).orElse(TaskSchedule.RETRIES)),
                TaskSandbox.DEFAULT,
                fields.optional("budget_usd", DECIMAL),
                fields.optional("guardian", RunJson.GUARDIAN),
                fields.optionalObject("repository").map(TaskReader::repository),
                fields.optional("inherit", TaskJson.INHERIT),
                fields.optional("race", TaskJson.RACE));
    }

    /// Ignores fields that this version does not know.
    private static Repository repository(JsonFields fields) {
        return GitJson.NEW_REPOSITORY.read(Json.answer(fields.text(REPOSITORY)));
    }

    private static TaskAttempt attempt(JsonFields fields) {
        return new TaskAttempt(
                fields.required("attempt", INT),
                fields.optional("run_id", RUN_ID),
                fields.optional("sandbox_id", SANDBOX_ID),
                fields.optionalString("worker"),
                fields.required("status", constants(TaskAttempt.Status.class)),
                fields.time("started_at"),
                fields.optionalTime("ended_at"),
                fields.optionalTime("lease_expires_at"),
                error(fields),
                fields.optional("cost_usd", DECIMAL).orElse(BigDecimal.ZERO));
    }

    private static Optional<TaskError> error(JsonFields fields) {
        return fields.optional("error_class", TaskJson.ERROR_CLASS)
                .map(kind -> new TaskError(
                        kind,
                        fields.optionalString("error_code").orElse(""),
                        fields.optionalString("error_message").orElse("")));
    }
}
