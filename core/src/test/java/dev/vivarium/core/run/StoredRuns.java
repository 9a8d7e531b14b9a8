package dev.vivarium.core.run;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WorkerEvent;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// Runs in a store, without workers and sandboxes.
public final class StoredRuns {
    private static final UserId ANN = new UserId("ann");

    private final Db db;
    private final Runs runs;
    private final InstantSource clock;
    private final Random random = new Random(1);

    public StoredRuns(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.clock = clock;
        this.runs = new Runs(db, new Outbox(db, log, clock), new RunSignals(), clock, List.of());
    }

    public Runs runs() {
        return runs;
    }

    /// Starts a run at a new task.
    public Run start() {
        var task = new NewTask("a task", "", Optional.empty(), Optional.empty(), "{}", "{}");
        return start(new NewRun.Assignment.Fresh(task));
    }

    /// Starts a run at a task of an earlier run.
    public Run start(TaskId task) {
        return start(new NewRun.Assignment.Known(task));
    }

    private Run start(NewRun.Assignment assignment) {
        var sandbox = sandbox();
        var program = new Run.Program(Run.Runtime.COMMAND, List.of("true"), Optional.empty());
        var wanted = new NewRun(
                assignment, program, NewSandbox.of(ANN, sandbox.thread()), Optional.empty(), Optional.empty());
        Run run = runs.begin(sandbox, wanted, RunOrigin.NONE, true);
        return runs.started(runs.named(run, "w"));
    }

    private SandboxInfo sandbox() {
        var id = SandboxId.random(random);
        return new SandboxInfo(
                id,
                new ThreadId(id.value()),
                ANN,
                Status.RUNNING,
                Limits.STANDARD,
                clock.instant(),
                clock.instant(),
                clock.instant(),
                clock.instant(),
                OnIdle.END,
                Optional.empty(),
                Optional.empty());
    }

    public void beat(Run run) {
        runs.heartbeat(run.sandbox(), run.task(), "{}");
    }

    public void hold(Run run) {
        runs.hold(run.sandbox());
    }

    public void resume(Run run) {
        runs.resumeAgent(run.sandbox());
    }

    /// Stores the judgement of the agent.
    public void failedByItself(Run run) {
        db.write(sql -> {
            runs.apply(
                    sql,
                    run.sandbox(),
                    run.task(),
                    new WorkerEvent.Failed("no key", Optional.of("signal"), Optional.empty()));
            return run;
        });
    }

    public Run end(Run run, String code) {
        runs.end(run, Run.Status.FAILED, Optional.of("it ended"), code);
        return runs.find(run.id()).orElseThrow();
    }

    public Run judge(Restarts restarts, Run run) {
        return db.write(sql -> restarts.judge(sql, run));
    }
}
