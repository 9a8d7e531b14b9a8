package dev.vivarium.core.task;

import static dev.vivarium.model.Task.Status.ASSIGNED;
import static dev.vivarium.model.Task.Status.CANCELLED;
import static dev.vivarium.model.Task.Status.COMPLETED;
import static dev.vivarium.model.Task.Status.FAILED;
import static dev.vivarium.model.Task.Status.READY;
import static dev.vivarium.model.Task.Status.RETRYING;
import static dev.vivarium.model.Task.Status.RUNNING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.Failure;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.Race;
import dev.vivarium.model.Run;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskSchedule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Contract of races and of inheritance in the queue of tasks on every database.
abstract class TaskStartContract extends QueueFixture {
    private static final TaskPlan PLAN = TaskPlan.of(Optional.of(PROGRAM));

    private TaskId addRace(String name, int attempts) {
        return queue.add(ANN, List.of(task(name, PLAN.with(new Race(attempts, List.of("make", "test"))))))
                .getFirst();
    }

    private static NewQueuedTask heir(String name, Inherit inherit, String... dependsOn) {
        return task(name, PLAN.with(inherit), dependsOn);
    }

    private static Inherit files(String from) {
        return new Inherit(from, true, false);
    }

    private static TaskError checkFailed(String message) {
        return new TaskError(TaskError.Kind.UNKNOWN, RetryPolicy.CHECK_FAILED, message);
    }

    private List<TaskAttempt.Status> attempts(TaskId id) {
        return get(id).attempts().stream().map(TaskAttempt::status).toList();
    }

    @Test
    void theFirstAttemptWhoseCheckPassesWinsAndTheOthersChangeNothing() {
        TaskId id = addRace("race", 3);
        TaskId next = add("next", id);
        List<Dispatch.Job> jobs = dispatch.assign();
        assertThat(jobs).hasSize(3);
        jobs.forEach(this::start);
        complete(jobs.get(1));
        complete(jobs.get(2));
        assertThat(attempts(id))
                .containsExactly(TaskAttempt.Status.RUNNING, TaskAttempt.Status.CHECKING, TaskAttempt.Status.CHECKING);
        assertThat(status(id)).isEqualTo(RUNNING);

        dispatch.checked(jobs.get(1).attempt(), Optional.empty());
        assertThat(status(id)).isEqualTo(COMPLETED);
        assertThat(status(next)).isEqualTo(READY);
        assertThat(dispatch.current())
                .allSatisfy(current -> assertThat(current.attempt().stopCode()).contains("race_lost"));

        complete(jobs.get(0));
        dispatch.checked(jobs.get(2).attempt(), Optional.empty());
        assertThat(attempts(id))
                .containsExactly(
                        TaskAttempt.Status.CANCELLED, TaskAttempt.Status.COMPLETED, TaskAttempt.Status.CANCELLED);
        assertThat(get(id).attempts().getFirst().error().orElseThrow().code()).isEqualTo("race_lost");
        assertThat(status(id)).isEqualTo(COMPLETED);
    }

    @Test
    void aRaceThatNoAttemptWinsFailsWithTheResultsOfAllChecks() {
        TaskId id = addRace("race", 3);
        List<Dispatch.Job> jobs = dispatch.assign();
        jobs.forEach(this::start);
        complete(jobs.get(0));
        dispatch.checked(jobs.get(0).attempt(), Optional.of(checkFailed("two tests failed")));
        fail(jobs.get(1), "crashed");
        assertThat(status(id)).isEqualTo(RUNNING);
        complete(jobs.get(2));
        dispatch.checked(jobs.get(2).attempt(), Optional.of(checkFailed("nine tests failed")));

        assertThat(status(id)).isEqualTo(FAILED);
        assertThat(get(id).task().message().orElseThrow())
                .contains("attempt 1: two tests failed", "because of crashed", "attempt 3: nine tests failed");
        assertThat(dispatch.current()).isEmpty();
    }

    @Test
    void aRaceThatThePlatformFailsIsRetriedAsAWhole() {
        TaskId id = addRace("race", 2);
        for (int round = 0; round <= TaskSchedule.RETRIES; round++) {
            List<Dispatch.Job> jobs = dispatch.assign();
            assertThat(jobs).hasSize(2);
            fail(jobs.get(0), "oom");
            assertThat(status(id)).isEqualTo(ASSIGNED);
            fail(jobs.get(1), "crashed");
            assertThat(status(id)).isEqualTo(round < TaskSchedule.RETRIES ? RETRYING : FAILED);
            pass(Duration.ofHours(1));
            dispatch.expire();
        }
        assertThat(get(id).attempts()).hasSize(2 * (TaskSchedule.RETRIES + 1));
    }

    @Test
    void theDatabaseAllowsTheAttemptsOfOneRaceOnly() {
        TaskId id = addRace("race", 2);
        List<Dispatch.Job> jobs = dispatch.assign();
        fail(jobs.getFirst(), "crashed");

        AttemptRows.Live live = jobs.getLast().attempt();
        var second = new AttemptRows.Live(
                id,
                3,
                live.fencing(),
                Optional.empty(),
                Optional.empty(),
                live.status(),
                Optional.empty(),
                live.startedAt(),
                Optional.empty(),
                live.lane());
        assertThatThrownBy(() -> db.write(sql -> {
                    AttemptRows.insert(sql, second);
                    return true;
                }))
                .isInstanceOf(RuntimeException.class);
        queue.cancel(id, "enough", Dependents.KEEP);
        assertThatThrownBy(() -> queue.retry(id)).hasMessageContaining("has not ended yet");
    }

    @Test
    void aRaceCountsAsOneRunningTask() {
        dispatch = dispatch(new TaskLimits(2, 2, 0));
        addRace("race", 4);
        pass(Duration.ofSeconds(1));
        add("plain");

        assertThat(dispatch.assign()).hasSize(5);
    }

    @Test
    void anAttemptOfARaceWaitsForCapacity() {
        TaskId id = addRace("race", 2);
        List<Dispatch.Job> jobs = dispatch.assign();
        start(jobs.getFirst());
        pass(TaskSchedule.RUN_TIMEOUT.dividedBy(2));
        var shortage = new Failure.AtCapacity(1, Duration.ofSeconds(1));
        dispatch.notStarted(jobs.getLast().attempt(), Optional.of(shortage), "no room");

        assertThat(status(id)).isEqualTo(RUNNING);
        assertThat(dispatch.adopt(jobs.getLast().attempt())
                        .orElseThrow()
                        .attempt()
                        .lane())
                .isEqualTo(2);
        pass(TaskSchedule.RUN_TIMEOUT.dividedBy(2));
        dispatch.expire();
        assertThat(dispatch.current())
                .extracting(current -> current.attempt().stopCode())
                .containsExactlyInAnyOrder(Optional.of("time_limit"), Optional.empty());
    }

    @Test
    void aCancelledRaceStopsAllItsAttempts() {
        TaskId id = addRace("race", 3);
        List<Dispatch.Job> jobs = dispatch.assign();
        start(jobs.getFirst());
        complete(jobs.get(1));
        queue.cancel(id, "enough", Dependents.KEEP);

        assertThat(dispatch.current())
                .hasSize(3)
                .allSatisfy(current -> assertThat(current.attempt().isGivenUp()).isTrue());
        fail(jobs.get(0), "aborted");
        dispatch.checked(jobs.get(1).attempt(), Optional.empty());
        dispatch.notStarted(jobs.get(2).attempt(), Optional.empty(), "over");
        assertThat(status(id)).isEqualTo(CANCELLED);
        assertThat(attempts(id)).containsOnly(TaskAttempt.Status.CANCELLED);
        queue.retry(id);
        assertThat(dispatch.assign()).hasSize(3);
    }

    @Test
    void aTaskInheritsOnlyFromATaskThatItDependsOn() {
        assertRefused("names no task", heir("b", files("nobody"), "a"));
        assertRefused("must be one of depends_on, not a", heir("b", files("a")));
        assertRefused("must be one of depends_on", heir("b", files("tskaaaaaaaaaaaaaaaaaaaa"), "a"));
        assertRefused("two agents of the same runtime", heir("b", new Inherit("a", true, true), "a"));
        assertThatThrownBy(() -> new Inherit("a", false, false)).hasMessageContaining("files or conversation");
        var outside = task("a", TaskPlan.of(Optional.empty()));
        assertThatThrownBy(() -> queue.add(ANN, List.of(outside, heir("b", files("a"), "a"))))
                .hasMessageContaining("without a runtime");
        TaskId bobs = queue.add(BOB, List.of(task("bobs"))).getFirst();
        assertThatThrownBy(() -> queue.add(ANN, List.of(heir("b", files(bobs.value()), bobs.value()))))
                .hasMessageContaining("none of your tasks");
    }

    private void assertRefused(String rule, NewQueuedTask heir) {
        assertThatThrownBy(() -> queue.add(ANN, List.of(task("a"), heir)))
                .hasMessageContaining("tasks[1].inherit")
                .hasMessageContaining(rule);
    }

    @Test
    void agentsOfOneRuntimeInheritAConversation() {
        var claude = TaskPlan.of(Optional.of(new Run.Program(Run.Runtime.CLAUDE, List.of(), Optional.empty())));
        List<TaskId> ids =
                queue.add(ANN, List.of(task("b", claude.with(new Inherit("a", false, true)), "a"), task("a", claude)));

        assertThat(get(ids.getFirst()).plan().inherit())
                .contains(new Inherit(ids.getLast().value(), false, true));
        assertThat(db.<Boolean>read(DiskRows::isAny)).isFalse();
    }

    @Test
    void aDiskIsWantedUntilAllHeirsHaveEnded() {
        List<TaskId> ids = queue.add(
                ANN, List.of(task("a"), heir("b", files("a"), "a"), heir("c", files("a"), "a"), task("d", "a")));
        TaskId parent = ids.getFirst();
        assertThat(db.<List<TaskId>>read(DiskRows::unsaved)).isEmpty();
        complete(assign(parent));
        assertThat(db.<List<TaskId>>read(DiskRows::unsaved)).containsExactly(parent);

        SnapshotId snapshot = SnapshotId.random(new Random(1));
        db.write(sql -> {
            DiskRows.store(sql, parent, snapshot);
            return parent;
        });
        assertThat(db.<List<TaskId>>read(DiskRows::unsaved)).isEmpty();
        List<Dispatch.Job> jobs = dispatch.assign();
        jobs.forEach(job -> {
            if (job.attempt().task().equals(ids.get(1))) {
                fail(job, "budget");
            } else {
                complete(job);
            }
        });
        var unused = db.<List<DiskRows.Disk>>read(DiskRows::unused);
        assertThat(unused).containsExactly(new DiskRows.Disk(parent, Optional.of(snapshot)));
        db.write(sql -> {
            DiskRows.delete(sql, parent);
            return parent;
        });
        queue.retry(ids.get(1));
        assertThat(db.<List<TaskId>>read(DiskRows::unsaved)).containsExactly(parent);
    }
}
