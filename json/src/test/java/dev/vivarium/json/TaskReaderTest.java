package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.BranchName;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Race;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.TaskSchedule;
import dev.vivarium.model.UserId;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TaskReaderTest {
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");
    private static final TaskId ID = new TaskId("tskaaaaaaaaaaaaaaaaaaaa");
    private static final TaskId OTHER = new TaskId("tskbbbbbbbbbbbbbbbbbbbb");

    @Test
    void aTaskIsReadAsItWasWritten() {
        var plan = new TaskPlan(
                Optional.of(new Run.Program(Run.Runtime.COMMAND, List.of("make", "test"), Optional.of("large"))),
                new TaskSchedule(
                        TaskPriority.HIGH,
                        Optional.of("coder"),
                        Duration.ofMinutes(30),
                        Optional.of(Duration.ofMinutes(90)),
                        7),
                TaskSandbox.DEFAULT,
                Optional.of(new BigDecimal("2.5")),
                Optional.of(GuardianPolicy.STOP),
                Optional.of(repository()),
                Optional.of(new Inherit(OTHER.value(), true, false)),
                Optional.of(new Race(3, List.of("make", "test"))));
        var task = new QueuedTask(
                task(Optional.of("{\"summary\":\"done\"}")),
                plan,
                List.of(OTHER),
                List.of(failed(), live()),
                Optional.of(NOW.plusSeconds(9)));

        assertThat(read(task)).isEqualTo(task);
    }

    @Test
    void aTaskWithoutOptionalFieldsIsReadAsItWasWritten() {
        var task = new QueuedTask(
                task(Optional.empty()), TaskPlan.of(Optional.empty()), List.of(), List.of(), Optional.empty());

        assertThat(read(task).task()).isEqualTo(task.task());
        assertThat(read(task).plan().program()).isEmpty();
    }

    private static QueuedTask read(QueuedTask task) {
        return TaskReader.read(Json.answer(new ByteArrayInputStream(Json.bytes(TaskJson.TASK, task))));
    }

    private static Task task(Optional<String> result) {
        return new Task(
                ID,
                new UserId("ann"),
                new NewTask(
                        "Test it",
                        "all of it",
                        Optional.of("test"),
                        Optional.of(result.isPresent() ? "high" : "medium"),
                        "{\"a\":1}",
                        "{}"),
                Task.Status.RETRYING,
                Optional.empty(),
                Optional.of("the host restarted"),
                result,
                NOW,
                NOW.plusSeconds(5));
    }

    private static Repository repository() {
        return new Repository(
                RepositoryUrl.of("https://git.example.com/team/shop"),
                Optional.of(BranchName.of("base", "main")),
                Optional.empty(),
                Optional.of("SHOP-12"),
                new Repository.Credential.Named("forge"),
                0,
                Optional.of(Repository.OnSuccess.PULL_REQUEST));
    }

    private static TaskAttempt failed() {
        return new TaskAttempt(
                1,
                Optional.of(new RunId("runaaaaaaaaaaaaaaaaaaaa")),
                Optional.of(new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa")),
                Optional.empty(),
                TaskAttempt.Status.FAILED,
                NOW,
                Optional.of(NOW.plusSeconds(3)),
                Optional.empty(),
                Optional.of(new TaskError(TaskError.Kind.TRANSIENT, "oom", "out of memory")),
                new BigDecimal("0.25"));
    }

    private static TaskAttempt live() {
        return new TaskAttempt(
                2,
                Optional.empty(),
                Optional.empty(),
                Optional.of("ci-1"),
                TaskAttempt.Status.RUNNING,
                NOW.plusSeconds(4),
                Optional.empty(),
                Optional.of(NOW.plusSeconds(64)),
                Optional.empty(),
                new BigDecimal("0.5"));
    }
}
