package dev.vivarium.core.task;

import static dev.vivarium.model.Task.Status.ASSIGNED;
import static dev.vivarium.model.Task.Status.BLOCKED;
import static dev.vivarium.model.Task.Status.CANCELLED;
import static dev.vivarium.model.Task.Status.COMPLETED;
import static dev.vivarium.model.Task.Status.FAILED;
import static dev.vivarium.model.Task.Status.PENDING;
import static dev.vivarium.model.Task.Status.READY;
import static dev.vivarium.model.Task.Status.RETRYING;
import static dev.vivarium.model.Task.Status.RUNNING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Limits;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Race;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.TaskSchedule;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Contract of the queue of tasks on every database.
abstract class TaskQueueContract extends QueueFixture {
    @Test
    void everyTransitionOfTheTableHappensAndNoOther() {
        runTransitions();
        queueTransitions();
        dependencyTransitions();
        cancelTransitions();

        var visited = new EnumMap<Task.Status, Set<Task.Status>>(Task.Status.class);
        for (Task.Status status : Task.Status.values()) {
            visited.put(status, new HashSet<>());
        }
        Map<TaskId, Task.Status> last = new HashMap<>();
        for (var event : log.read(new TaskLog(ANN), Query.after(0, 1000))) {
            var changed = (TaskEvent.Changed) log.codec().decode(event);
            Task.Status before = last.put(changed.task(), changed.status());
            if (before != null) {
                visited.get(before).add(changed.status());
            }
        }
        assertThat(visited).isEqualTo(Transitions.ALLOWED);
    }

    private void runTransitions() {
        var completes = assign(add("completes"));
        start(completes);
        complete(completes);
        var fails = assign(add("fails"));
        fail(fails, "budget");
        var retries = assign(add("retries"));
        fail(retries, "crashed");
        pass(Duration.ofMinutes(1));
        dispatch.expire();
        var runsAndFails = assign(retries.row().task().id());
        start(runsAndFails);
        fail(runsAndFails, "budget");
        var runsAndRetries = assign(add("runs and retries"));
        start(runsAndRetries);
        fail(runsAndRetries, "crashed");
        queue.cancel(runsAndRetries.row().task().id(), "enough", Dependents.KEEP);
    }

    private void queueTransitions() {
        var released = assign(add("released"));
        dispatch.notStarted(
                released.attempt(), Optional.of(new Failure.AtCapacity(1, Duration.ofSeconds(1))), "no room");
        queue.cancel(released.row().task().id(), "enough", Dependents.KEEP);
        TaskPlan plan = TaskPlan.of(Optional.of(PROGRAM))
                .with(new TaskSchedule(
                        TaskPriority.LOW,
                        Optional.empty(),
                        TaskSchedule.RUN_TIMEOUT,
                        Optional.of(Duration.ofMinutes(5)),
                        0));
        queue.add(ANN, List.of(task("waits too long", plan)));
        pass(Duration.ofMinutes(5));
        dispatch.expire();
        TaskId lapses = addForWorkers("lapses");
        claims.claim(claim("w"));
        pass(Duration.ofMinutes(1));
        dispatch.expire();
        assertThat(status(lapses)).isEqualTo(READY);
    }

    private void dependencyTransitions() {
        TaskId first = add("first");
        TaskId second = add("second", first);
        fail(assign(first), "budget");
        assertThat(status(second)).isEqualTo(BLOCKED);
        queue.retry(first);
        assertThat(status(second)).isEqualTo(PENDING);
        complete(assign(first));
        assertThat(status(second)).isEqualTo(READY);
    }

    private void cancelTransitions() {
        TaskId pending = add("pending", add("ready"));
        queue.cancel(pending, "enough", Dependents.KEEP);
        TaskId assigned = assign(add("assigned")).row().task().id();
        queue.cancel(assigned, "enough", Dependents.KEEP);
        var running = assign(add("running"));
        start(running);
        TaskId blocked = add("blocked", pending);
        queue.cancel(blocked, "enough", Dependents.KEEP);
        queue.cancel(running.row().task().id(), "enough", Dependents.KEEP);
        queue.retry(pending);
    }

    @Test
    void aTaskIsStoredWithItsPlan() {
        var plan = new TaskPlan(
                Optional.of(new Run.Program(Run.Runtime.CLAUDE, List.of(), Optional.of("m"))),
                new TaskSchedule(
                        TaskPriority.HIGH,
                        Optional.of("coder"),
                        Duration.ofMinutes(7),
                        Optional.of(Duration.ofMinutes(8)),
                        2),
                new TaskSandbox(
                        Map.of("SECRET", "hidden value"),
                        Optional.of(new Limits(64L << 20, 0.5, 32, 64L << 20)),
                        Optional.of(Egress.of("egress", List.of("example.com"))),
                        Optional.of("debian")),
                Optional.of(new BigDecimal("1.5")),
                Optional.of(GuardianPolicy.WATCH),
                Optional.of(new Repository(
                        RepositoryUrl.of("https://git.example.com:8443/team/shop"),
                        Optional.of(new BranchName("main")),
                        Optional.empty(),
                        Optional.of("TICKET-1"),
                        new Repository.Credential.Named("forge"),
                        0,
                        Optional.of(Repository.OnSuccess.PULL_REQUEST))),
                Optional.empty(),
                Optional.of(new Race(3, List.of("make", "test it"))));

        TaskId id = queue.add(ANN, List.of(task("a", plan))).getFirst();

        QueuedTask stored = get(id);
        assertThat(stored.plan()).isEqualTo(plan);
        assertThat(stored.task().owner()).isEqualTo(ANN);
        assertThat(stored.attempts()).isEmpty();
        assertThat(db.<List<String>>read(sql -> sql.list("select env from task_queue", row -> row.getString(1))))
                .allMatch(text -> !text.contains("hidden"));
    }

    @Test
    void aGraphIsAddedAsAWholeOrNotAtAll() {
        assertThatThrownBy(() -> queue.add(ANN, List.of(task("a", "b"), task("b", "c"), task("c", "a"))))
                .hasMessageContaining("tasks[0].depends_on")
                .hasMessageContaining("a → b → c → a");
        assertThatThrownBy(() -> queue.add(ANN, List.of(task("a"), task("b", "b"))))
                .hasMessageContaining("tasks[1].depends_on")
                .hasMessageContaining("b → b");
        assertThatThrownBy(() -> queue.add(ANN, List.of(task("a"), task("b", "x"))))
                .hasMessageContaining("none of your tasks: x");
        assertThatThrownBy(() -> queue.add(ANN, List.of(task("a"), task("a")))).hasMessageContaining("two tasks");
        TaskId anns = add("anns");
        assertThatThrownBy(() -> queue.add(BOB, List.of(task("b"), task("a", anns.value()))))
                .hasMessageContaining("none of your tasks");

        assertThat(all(BOB)).isEmpty();
        assertThat(all(ANN)).hasSize(1);
    }

    private List<QueuedTask> all(UserId owner) {
        return queue.list(
                new TaskFilter(Optional.of(owner), Optional.empty(), Optional.empty(), Optional.empty(), 2000));
    }

    @Test
    void aLongChainIsCheckedAndALargeGraphIsRefused() {
        var chain = IntStream.range(0, TaskGraph.MAX_TASKS)
                .mapToObj(i -> i == 0 ? task("t0") : task("t" + i, "t" + (i - 1)))
                .toList();
        List<TaskId> ids = queue.add(ANN, chain);
        assertThat(status(ids.getFirst())).isEqualTo(READY);
        assertThat(status(ids.getLast())).isEqualTo(PENDING);

        queue.cancel(ids.getFirst(), "enough", Dependents.CANCEL);
        assertThat(status(ids.getLast())).isEqualTo(CANCELLED);

        var ring = new ArrayList<>(chain);
        ring.set(0, task("t0", "t" + (TaskGraph.MAX_TASKS - 1)));
        assertThatThrownBy(() -> queue.add(ANN, ring)).hasMessageContaining("(1000 tasks)");
        var many = IntStream.range(0, 10_000).mapToObj(i -> task("t" + i)).toList();
        assertThatThrownBy(() -> queue.add(ANN, many)).hasMessageContaining("at most 1000");
    }

    @Test
    void aDiamondIsUnblockedByARetryOfItsStart() {
        List<TaskId> ids = queue.add(ANN, List.of(task("a"), task("end", "a", "c"), task("b", "a"), task("c", "b")));
        fail(assign(ids.getFirst()), "budget");
        assertThat(ids.subList(1, 4)).allMatch(id -> status(id) == BLOCKED);

        queue.retry(ids.getFirst());

        assertThat(ids.subList(1, 4)).allMatch(id -> status(id) == PENDING);
        complete(assign(ids.get(0)));
        complete(assign(ids.get(2)));
        complete(assign(ids.get(3)));
        assertThat(status(ids.get(1))).isEqualTo(READY);
    }

    @Test
    void tasksAreOrderedByPriorityAndNoneStarves() {
        TaskId low = add("low", TaskPriority.LOW);
        pass(Duration.ofSeconds(1));
        TaskId high = add("high", TaskPriority.HIGH);
        dispatch = dispatch(new TaskLimits(1, 0, 0));
        Dispatch.Job first = assign(high);
        assertThat(dispatch.assign()).isEmpty();

        pass(TaskQueue.AGEING.multipliedBy(4));
        add("critical", TaskPriority.CRITICAL);
        complete(first);
        assign(low);
    }

    private TaskId add(String name, TaskPriority priority) {
        TaskPlan plan = TaskPlan.of(Optional.of(PROGRAM));
        plan = plan.with(new TaskSchedule(priority, Optional.empty(), Duration.ofDays(1), Optional.empty(), 0));
        return queue.add(ANN, List.of(task(name, plan))).getFirst();
    }

    @Test
    void aUserAndAnAgentTypeAtTheirLimitHideNoOthers() {
        for (int i = 0; i < 5; i++) {
            add("ann" + i);
            pass(Duration.ofSeconds(1));
        }
        for (int i = 0; i < 3; i++) {
            queue.add(BOB, List.of(task("bob" + i, typed("coder"))));
            pass(Duration.ofSeconds(1));
        }
        queue.add(new UserId("cid"), List.of(task("cid0", typed("coder")), task("cid1", typed("tester"))));
        dispatch = dispatch(new TaskLimits(10, 2, 1));

        assertThat(dispatch.assign())
                .extracting(job -> job.row().task().wanted().title())
                .containsExactly("Do ann0", "Do ann1", "Do bob0", "Do cid1");
        assertThat(dispatch.assign()).isEmpty();
    }

    private static TaskPlan typed(String type) {
        return TaskPlan.of(Optional.of(PROGRAM))
                .with(new TaskSchedule(
                        TaskPriority.MEDIUM, Optional.of(type), TaskSchedule.RUN_TIMEOUT, Optional.empty(), 0));
    }

    @Test
    void transientErrorsAreRetriedWithGrowingPauses() {
        TaskId id = add("crashes");
        var pauses = new ArrayList<Duration>();
        for (int i = 0; i < TaskSchedule.RETRIES; i++) {
            fail(assign(id), "crashed");
            assertThat(status(id)).isEqualTo(RETRYING);
            Instant next = get(id).nextAttemptAt().orElseThrow();
            pauses.add(Duration.between(time.get(), next));
            assertThat(dispatch.expire()).contains(next);
            pass(Duration.between(time.get(), next));
            dispatch.expire();
        }
        fail(assign(id), "crashed");

        assertThat(status(id)).isEqualTo(FAILED);
        assertThat(get(id).attempts())
                .hasSize(TaskSchedule.RETRIES + 1)
                .allSatisfy(attempt -> assertThat(attempt.error())
                        .contains(new TaskError(TaskError.Kind.TRANSIENT, "crashed", "because of crashed")));
        for (int i = 0; i < pauses.size(); i++) {
            assertThat(pauses.get(i)).isBetween(Duration.ofSeconds(1L << i), Duration.ofSeconds(2L << i));
        }
    }

    @Test
    void unknownErrorsAndLackOfMemoryAreRetriedOnce() {
        for (String code : List.of("failed", "oom")) {
            TaskId id = add(code);
            fail(assign(id), code);
            assertThat(status(id)).isEqualTo(RETRYING);
            pass(Duration.ofMinutes(1));
            dispatch.expire();
            fail(assign(id), code);
            assertThat(status(id)).isEqualTo(FAILED);

            queue.retry(id);
            fail(assign(id), code);
            assertThat(status(id)).as("a retry by request has its own retries").isEqualTo(RETRYING);
        }
    }

    @Test
    void permanentErrorsAreNotRetried() {
        for (String code : List.of("budget", "aborted", "model_refused")) {
            TaskId id = add(code);
            fail(assign(id), code);
            assertThat(status(id)).isEqualTo(FAILED);
        }
        TaskId invalid = add("invalid");
        dispatch.notStarted(
                assign(invalid).attempt(), Optional.of(new Failure.InvalidRequest("image", "is unknown")), "");
        assertThat(status(invalid)).isEqualTo(FAILED);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void aJumpOfTheClockMovesRetriesTimeoutsAndLeases(int hours) {
        TaskId claimed = addForWorkers("claimed");
        claims.claim(claim("w"));
        TaskId running = add("running");
        start(assign(running));
        TaskId crashed = add("crashed");
        fail(assign(crashed), "crashed");
        TaskId queued = queue.add(ANN, List.of(task("queued", impatient()))).getFirst();
        Instant retry = get(crashed).nextAttemptAt().orElseThrow();
        Duration jump = Duration.ofHours(hours);

        jump(jump);
        claims.heartbeat(claimed, 1, Duration.ofSeconds(60));
        dispatch.expire();

        assertThat(get(crashed).nextAttemptAt()).contains(retry.plus(jump));
        assertThat(status(claimed)).isEqualTo(RUNNING);
        assertThat(status(queued)).isEqualTo(READY);
        pass(Duration.ofSeconds(59));
        dispatch.expire();
        assertThat(status(crashed)).isEqualTo(READY);
        assertThat(status(claimed)).isEqualTo(RUNNING);
        assertThat(status(queued)).isEqualTo(READY);
        pass(Duration.ofSeconds(1));
        dispatch.expire();
        assertThat(status(claimed)).isEqualTo(READY);
        assertThat(status(queued)).isEqualTo(FAILED);
        pass(TaskSchedule.RUN_TIMEOUT.minusSeconds(61));
        dispatch.expire();
        assertThat(stopCode(running)).isEmpty();
        pass(Duration.ofSeconds(1));
        dispatch.expire();
        assertThat(stopCode(running)).contains("time_limit");
    }

    /// Returns a plan that waits for a worker for a minute.
    private static TaskPlan impatient() {
        return TaskPlan.of(Optional.empty())
                .with(new TaskSchedule(
                        TaskPriority.MEDIUM,
                        Optional.of("nobody"),
                        TaskSchedule.RUN_TIMEOUT,
                        Optional.of(Duration.ofMinutes(1)),
                        0));
    }

    private Optional<String> stopCode(TaskId id) {
        return db.read(sql -> AttemptRows.live(sql, id)).getFirst().stopCode();
    }

    @Test
    void aRunThatTakesTooLongIsStoppedAndFails() {
        TaskId id = add("slow");
        var job = assign(id);
        start(job);
        pass(TaskSchedule.RUN_TIMEOUT);
        dispatch.expire();

        assertThat(dispatch.current().getFirst().attempt().stopCode()).contains("time_limit");
        assertThat(status(id)).isEqualTo(RUNNING);
        fail(job, "aborted");
        assertThat(get(id).attempts().getFirst().error().orElseThrow().code()).isEqualTo("time_limit");
    }

    @Test
    void aCancelledTaskHasALiveAttemptUntilItsRunEnds() {
        TaskId id = add("a");
        var job = assign(id);
        start(job);
        queue.cancel(id, "enough", Dependents.KEEP);

        assertThat(status(id)).isEqualTo(CANCELLED);
        assertThat(dispatch.current().getFirst().attempt().stopCode()).contains("cancelled");
        assertThatThrownBy(() -> queue.retry(id)).hasMessageContaining("has not ended yet");

        fail(job, "aborted");
        assertThat(status(id)).isEqualTo(CANCELLED);
        assertThat(get(id).attempts().getFirst().status()).isEqualTo(TaskAttempt.Status.CANCELLED);
        queue.retry(id);
        assertThat(status(id)).isEqualTo(READY);
    }

    @Test
    void theRunOfAStoppedAttemptDoesNotBegin() {
        TaskId id = add("a");
        var job = assign(id);
        require(job);
        queue.cancel(id, "enough", Dependents.KEEP);

        assertThatThrownBy(() -> require(job)).isInstanceOf(Dispatch.AttemptOver.class);
        dispatch.notStarted(job.attempt(), Optional.empty(), "over");
        assertThat(get(id).attempts().getFirst().status()).isEqualTo(TaskAttempt.Status.CANCELLED);
    }

    private void require(Dispatch.Job job) {
        db.write(sql -> {
            dispatch.requireLive(sql, job.attempt());
            return true;
        });
    }

    @Test
    void theNextServerTakesOverAttemptsAndTheEarlierOneChangesNothing() {
        TaskId id = add("a");
        var job = assign(id);
        Dispatch killed = dispatch;
        lease = lease("one");
        lease.hold();
        dispatch = dispatch(new TaskLimits(0, 0, 0));

        assertThat(dispatch.assign()).isEmpty();
        var adopted = dispatch.adopt(job.attempt()).orElseThrow();
        assertThat(adopted.attempt().run()).isEqualTo(job.attempt().run());
        require(adopted);

        assertThatThrownBy(() -> require(job)).isInstanceOf(Dispatch.AttemptOver.class);
        assertThatThrownBy(() -> db.write(sql -> {
                    killed.requireLive(sql, job.attempt());
                    return true;
                }))
                .isInstanceOf(DutyLease.Superseded.class);
        assertThatThrownBy(() -> killed.settle(run(job, Run.Status.COMPLETED, "completed")))
                .isInstanceOf(DutyLease.Superseded.class);
        assertThat(status(id)).isEqualTo(ASSIGNED);
        complete(adopted);
        assertThat(status(id)).isEqualTo(COMPLETED);
    }

    @Test
    void anEndThatIsAppliedTwiceCountsOnce() {
        TaskId id = add("a");
        var job = assign(id);
        fail(job, "crashed");
        fail(job, "crashed");

        assertThat(get(id).attempts()).hasSize(1);
    }

    @Test
    void aWorkerClaimsRenewsAndCompletes() {
        add("for the server");
        TaskId id = addForWorkers("a");
        assertThat(dispatch.assign()).hasSize(1);

        assertThat(claims.claim(claim("w")).orElseThrow().task().id()).isEqualTo(id);
        assertThat(claims.claim(claim("v"))).isEmpty();
        assertThat(status(id)).isEqualTo(RUNNING);
        pass(Duration.ofSeconds(50));
        claims.heartbeat(id, 1, Duration.ofSeconds(60));
        pass(Duration.ofSeconds(50));
        claims.complete(id, 1, Optional.of("{\"x\":1}"));

        assertThat(status(id)).isEqualTo(COMPLETED);
        assertThat(get(id).task().result()).contains("{\"x\":1}");
        assertThatThrownBy(() -> claims.complete(id, 1, Optional.empty())).hasMessageContaining("is over");
    }

    @Test
    void aLapsedLeaseReturnsTheTaskAndRefusesItsWorker() {
        TaskId id = addForWorkers("a");
        claims.claim(claim("slow"));
        pass(Duration.ofSeconds(60));
        assertThatThrownBy(() -> claims.complete(id, 1, Optional.of("{\"late\":1}")))
                .isInstanceOf(SandboxException.class);
        dispatch.expire();
        assertThat(status(id)).isEqualTo(READY);

        assertThat(claims.claim(claim("fast"))).isPresent();
        assertThatThrownBy(() -> claims.heartbeat(id, 1, Duration.ofSeconds(60)))
                .hasMessageContaining("attempt 1");
        claims.complete(id, 2, Optional.empty());
        assertThat(get(id).task().result()).isEmpty();
        assertThat(get(id).attempts())
                .extracting(TaskAttempt::status)
                .containsExactly(TaskAttempt.Status.LAPSED, TaskAttempt.Status.COMPLETED);
    }

    @Test
    void aWorkerReportsAnError() {
        TaskId id = addForWorkers("a");
        claims.claim(claim("w"));
        claims.fail(id, 1, new TaskError(TaskError.Kind.PERMANENT, "failed", "no access"));

        assertThat(status(id)).isEqualTo(FAILED);
        assertThat(get(id).task().message()).contains("no access");
    }

    @Test
    void aWaitingTaskCanBeChanged() {
        TaskId id = add("a");
        var edit = new TaskQueue.Edit(
                Optional.of("New title"),
                Optional.empty(),
                Optional.of(TaskPriority.CRITICAL),
                Optional.empty(),
                Optional.empty(),
                Optional.of(0));

        QueuedTask changed = queue.edit(id, edit);

        assertThat(changed.task().wanted().title()).isEqualTo("New title");
        assertThat(changed.plan().schedule().priority()).isEqualTo(TaskPriority.CRITICAL);
        assertThat(changed.plan().schedule().maxRetries()).isZero();
        assign(id);
        assertThatThrownBy(() -> queue.edit(id, edit)).hasMessageContaining("is assigned");
    }

    @Test
    void theGraphOfATaskHasAllConnectedTasks() {
        add("alone");
        List<TaskId> ids = queue.add(ANN, List.of(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c")));

        assertThat(queue.graph(ids.get(1)))
                .extracting(entry -> entry.task().id())
                .containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    void resultsOfDependenciesAreFound() {
        TaskId first = addForWorkers("a");
        TaskId second = add("b", first);
        claims.claim(claim("w"));
        claims.complete(first, 1, Optional.of("{\"x\":1}"));

        assertThat(queue.dependencies(second)).singleElement().satisfies(task -> {
            assertThat(task.id()).isEqualTo(first);
            assertThat(task.result()).contains("{\"x\":1}");
        });
    }
}
