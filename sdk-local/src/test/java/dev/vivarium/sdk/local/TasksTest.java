package dev.vivarium.sdk.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Failure;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.Race;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.sdk.EventStream;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.TaskRequest;
import dev.vivarium.sdk.Tasks;
import dev.vivarium.sdk.Tasks.AddedTask;
import dev.vivarium.sdk.Tasks.TaskRecord;
import dev.vivarium.testing.TestServer;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Tasks of the queue with the SDK, on a real server. Each test is a user of its own.
@Timeout(180)
class TasksTest {
    private static final Duration LEASE = Duration.ofMinutes(1);

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Tasks tasksOf(String user) {
        String key = RemoteClient.of(server.uri(), server.adminKey())
                .keys()
                .issue(user)
                .key();
        return RemoteClient.of(server.uri(), key).tasks();
    }

    private static Failure failure(Runnable call) {
        return catchThrowableOfType(SandboxException.class, call::run).failure();
    }

    private static TaskRecord awaitStatus(Tasks tasks, String id, Task.Status status) {
        return await().until(() -> tasks.get(id), task -> task.status() == status);
    }

    @Test
    void aGraphRunsAndItsTasksAreReadWithAttemptsAndEvents() {
        Tasks tasks = tasksOf("graph");
        List<AddedTask> added = tasks.addGraph(List.of(
                TaskRequest.of("Test it").after(List.of("build")).withCommand(List.of("true")),
                TaskRequest.of("Build it").named("build").withCommand(List.of("sh", "-c", "echo built"))));

        assertThat(added).extracting(AddedTask::name).containsExactly(Optional.empty(), Optional.of("build"));
        String test = added.get(0).id().value();
        TaskRecord done = awaitStatus(tasks, test, Task.Status.COMPLETED);
        assertThat(done.task().dependsOn()).containsExactly(added.get(1).id());
        assertThat(done.task().attempts())
                .singleElement()
                .extracting(TaskAttempt::status)
                .isEqualTo(TaskAttempt.Status.COMPLETED);
        assertThat(tasks.graph(test)).hasSize(2);
        var types = new ArrayList<String>();
        try (EventStream events = tasks.events(0)) {
            events.forEachRemaining(event -> types.add(event.type()));
        }
        assertThat(types).contains("task.ready", "task.running").endsWith("task.completed");
    }

    @Test
    void everyFieldOfARequestIsStored() {
        Tasks tasks = tasksOf("fields");
        TaskRecord added = tasks.add(TaskRequest.of("All fields")
                .withCommand(List.of("true"))
                .withDescription("in words")
                .withPriority(TaskPriority.CRITICAL)
                .withAgentType("coder")
                .withPhase("phase-1")
                .withTicket("TICKET-1")
                .withTimeout(Duration.ofMinutes(5))
                .withQueueTimeout(Duration.ofHours(2))
                .withMaxRetries(0)
                .withBudget(new BigDecimal("1.5"))
                .withEnv(Map.of("A", "1"))
                .withContext("{\"k\":[1]}")
                .withConstraints("{\"time_limit_minutes\":3}"));
        var plan = added.task().plan();

        assertThat(plan.schedule().priority()).isEqualTo(TaskPriority.CRITICAL);
        assertThat(plan.schedule().agentType()).contains("coder");
        assertThat(plan.schedule().runTimeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(plan.schedule().queueTimeout()).contains(Duration.ofHours(2));
        assertThat(plan.schedule().maxRetries()).isZero();
        assertThat(plan.budgetUsd()).contains(new BigDecimal("1.5"));
        assertThat(added.task().task().wanted().description()).isEqualTo("in words");
        assertThat(added.json()).contains("\"phase_id\":\"phase-1\"", "\"ticket_id\":\"TICKET-1\"", "\"k\":[1]");
    }

    @Test
    void aTaskCanInheritAndRace() {
        Tasks tasks = tasksOf("inherit");
        List<AddedTask> added = tasks.addGraph(List.of(
                TaskRequest.of("First").named("first").withCommand(List.of("true")),
                TaskRequest.of("Second")
                        .withCommand(List.of("true"))
                        .after(List.of("first"))
                        .withGuardian("watch")
                        .withInherit(new Inherit("first", true, false)),
                TaskRequest.of("Third").withCommand(List.of("true")).withRace(new Race(2, List.of("true")))));
        var second = tasks.get(added.get(1).id().value()).task().plan();

        assertThat(second.inherit()).contains(new Inherit(added.getFirst().id().value(), true, false));
        assertThat(second.guardian()).contains(GuardianPolicy.WATCH);
        assertThat(tasks.get(added.get(2).id().value()).task().plan().race()).contains(new Race(2, List.of("true")));
    }

    @Test
    void aTaskIsEditedCancelledAndRetried() {
        Tasks tasks = tasksOf("edit");
        String first = tasks.add(TaskRequest.of("First")).id().value();
        String second =
                tasks.add(TaskRequest.of("Second").after(List.of(first))).id().value();

        assertThat(tasks.edit(second, Tasks.Edit.ofPriority(TaskPriority.HIGH))
                        .task()
                        .plan()
                        .schedule()
                        .priority())
                .isEqualTo(TaskPriority.HIGH);
        assertThat(tasks.cancel(first, Tasks.Dependents.KEEP).status()).isEqualTo(Task.Status.CANCELLED);
        assertThat(tasks.get(second).status()).isEqualTo(Task.Status.BLOCKED);
        assertThat(tasks.retry(first).status()).isEqualTo(Task.Status.READY);
        assertThat(tasks.cancel(first, Tasks.Dependents.CANCEL).status()).isEqualTo(Task.Status.CANCELLED);
        assertThat(tasks.get(second).status()).isEqualTo(Task.Status.CANCELLED);
        assertThat(failure(() -> tasks.get("tskaaaaaaaaaaaaaaaaaaaa"))).isInstanceOf(RunFailure.NoSuchTask.class);
    }

    @Test
    void aListHasFiltersAndPages() {
        Tasks tasks = tasksOf("list");
        for (int i = 0; i < 3; i++) {
            tasks.add(TaskRequest.of("Task " + i).withAgentType(i == 0 ? "tester" : "coder"));
        }
        var first = tasks.list(Tasks.Filter.newest(2));
        var last = tasks.list(Tasks.Filter.newest(2).from(first.next().orElseThrow()));

        assertThat(first.tasks())
                .extracting(entry -> entry.task().task().wanted().title())
                .containsExactly("Task 2", "Task 1");
        assertThat(last.tasks()).hasSize(1);
        assertThat(last.next()).isEmpty();
        assertThat(tasks.list(new Tasks.Filter(
                                Optional.of(Task.Status.READY), Optional.of("tester"), 10, Optional.empty()))
                        .tasks())
                .hasSize(1);
    }

    @Test
    void aWorkerClaimsReportsAndLosesNothing() {
        Tasks tasks = tasksOf("claim");
        var claim = new Tasks.Claim("ci-1", Optional.empty(), LEASE);
        assertThat(tasks.claim(claim)).isEmpty();
        String id = tasks.add(TaskRequest.of("By a worker")).id().value();

        TaskRecord claimed = tasks.claim(claim).orElseThrow();
        assertThat(claimed.id().value()).isEqualTo(id);
        int attempt = claimed.task().attempts().getLast().number();
        assertThat(tasks.heartbeat(id, attempt, LEASE).status()).isEqualTo(Task.Status.RUNNING);
        assertThat(tasks.complete(id, attempt, Optional.of("{\"ok\":true}"))
                        .task()
                        .task()
                        .result())
                .contains("{\"ok\":true}");
    }

    @Test
    void aFailureOfAWorkerHasAClass() {
        Tasks tasks = tasksOf("fail");
        String id = tasks.add(TaskRequest.of("By a worker")).id().value();
        int attempt = tasks.claim(new Tasks.Claim("ci-1", Optional.empty(), LEASE))
                .orElseThrow()
                .task()
                .attempts()
                .getLast()
                .number();

        TaskRecord failed = tasks.fail(id, attempt, TaskError.Kind.PERMANENT, "no such repository");
        assertThat(failed.status()).isEqualTo(Task.Status.FAILED);
        assertThat(failed.task().attempts().getLast().error().orElseThrow().message())
                .isEqualTo("no such repository");
    }

    @Test
    void anInvalidGraphAddsNothing() {
        Tasks tasks = tasksOf("bad");
        Failure cycle = failure(() -> tasks.addGraph(List.of(
                TaskRequest.of("A").named("a").after(List.of("b")),
                TaskRequest.of("B").named("b").after(List.of("a")))));

        assertThat(cycle.sentence()).contains("makes a cycle: a → b → a");
        assertThat(tasks.list(Tasks.Filter.newest(10)).tasks()).isEmpty();
    }
}
