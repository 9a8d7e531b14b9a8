package dev.vivarium.core.task;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.RunSignals;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// A queue of tasks with its orchestrator on a database, without sandboxes and with a clock of its own.
abstract class QueueFixture {
    static final UserId ANN = new UserId("ann");
    static final UserId BOB = new UserId("bob");
    static final Run.Program PROGRAM =
            new Run.Program(Run.Runtime.COMMAND, List.of("make", "it work"), Optional.empty());

    final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final AtomicLong elapsed = new AtomicLong();
    Db db;
    EventLog log;
    TaskQueue queue;
    TaskClaims claims;
    DutyLease lease;
    Dispatch dispatch;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, time::get, new EventBodyJson());
        queue = new TaskQueue(
                db, new Outbox(db, log, time::get), new ClockJumps(time::get, elapsed::get), new Random(1));
        claims = new TaskClaims(queue);
        lease = lease("one");
        lease.hold();
        dispatch = dispatch(new TaskLimits(0, 0, 0));
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    DutyLease lease(String holder) {
        return new DutyLease(db, "orchestrator", holder, Duration.ofSeconds(30), time::get);
    }

    Dispatch dispatch(TaskLimits limits) {
        var runs = new Runs(db, new Outbox(db, log, time::get), new RunSignals(), time::get, List.of());
        return new Dispatch(queue, runs, lease, limits, new Restarts(db, time::get, 3));
    }

    void pass(Duration duration) {
        elapsed.addAndGet(duration.toNanos());
        jump(duration);
    }

    /// Sets the clock of the host.
    void jump(Duration duration) {
        time.updateAndGet(now -> now.plus(duration));
    }

    static NewQueuedTask task(String name, TaskPlan plan, String... dependsOn) {
        var wanted = new NewTask("Do " + name, "", Optional.empty(), Optional.empty(), "{}", "{}");
        return new NewQueuedTask(Optional.of(name), wanted, plan, List.of(dependsOn));
    }

    static NewQueuedTask task(String name, String... dependsOn) {
        return task(name, TaskPlan.of(Optional.of(PROGRAM)), dependsOn);
    }

    TaskId add(String name, TaskId... dependsOn) {
        var ids = List.of(dependsOn).stream().map(TaskId::value).toArray(String[]::new);
        return queue.add(ANN, List.of(task(name, ids))).getFirst();
    }

    TaskId addForWorkers(String name) {
        return queue.add(ANN, List.of(task(name, TaskPlan.of(Optional.empty()))))
                .getFirst();
    }

    Task.Status status(TaskId id) {
        return get(id).task().status();
    }

    QueuedTask get(TaskId id) {
        return queue.find(id).orElseThrow();
    }

    Dispatch.Job assign(TaskId id) {
        return dispatch.assign().stream()
                .filter(job -> job.row().task().id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /// Returns the run of an attempt in a state.
    static Run run(Dispatch.Job job, Run.Status status, String code) {
        return new Run(
                job.attempt().run().orElseThrow(),
                SandboxId.random(new Random(1)),
                job.attempt().task(),
                ANN,
                new ThreadId("t"),
                PROGRAM,
                status,
                Optional.of("because of " + code),
                Optional.of(code),
                Optional.empty(),
                Spent.NOTHING,
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    void start(Dispatch.Job job) {
        dispatch.settle(run(job, Run.Status.RUNNING, ""));
    }

    void complete(Dispatch.Job job) {
        dispatch.settle(run(job, Run.Status.COMPLETED, "completed"));
    }

    void fail(Dispatch.Job job, String code) {
        dispatch.settle(run(job, Run.Status.FAILED, code));
    }

    TaskClaims.Claim claim(String worker) {
        return new TaskClaims.Claim(worker, Optional.empty(), Optional.empty(), Duration.ofSeconds(60));
    }
}
