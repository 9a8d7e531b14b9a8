package dev.vivarium.core.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WorkerEvent;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// Agent runs: their state and their cost. Changes of state are events in the log of the sandbox. Thread-safe.
public final class Runs {
    private final Db db;
    private final Outbox outbox;
    private final RunSignals signals;
    private final InstantSource clock;
    private final List<RunListener> listeners;
    private final SecureRandom random = new SecureRandom();

    /// @param listeners called in this order on every signal
    public Runs(Db db, Outbox outbox, RunSignals signals, InstantSource clock, List<RunListener> listeners) {
        this.db = db;
        this.outbox = outbox;
        this.signals = signals;
        this.clock = clock;
        this.listeners = new CopyOnWriteArrayList<>(listeners);
    }

    /// Registers a listener after those that exist.
    void addListener(RunListener listener) {
        listeners.add(listener);
    }

    /// Returns the newest run of a sandbox.
    public Optional<Run> find(SandboxId sandbox) {
        return db.read(sql -> RunRows.find(sql, sandbox));
    }

    /// Reports whether a sandbox has an active run. Messages to a sandbox without one wait for the next run.
    public boolean isAtWork(SandboxId sandbox) {
        return find(sandbox).filter(Run::isActive).isPresent();
    }

    /// Returns the active run of a sandbox. Fails with `no-run` if the sandbox has no active run.
    public Run requireActive(SandboxId sandbox) {
        return find(sandbox).filter(Run::isActive).orElseThrow(() -> noRun(sandbox));
    }

    /// Returns the active run of a sandbox at this task. Fails with `no-run` if the sandbox has no active run, so
    /// that a late worker does not act for the next run.
    public Run requireActive(SandboxId sandbox, TaskId task) {
        return db.read(sql -> RunRows.activeAtTask(sql, sandbox, task)).orElseThrow(() -> noActiveRun(sandbox, task));
    }

    /// Reports whether a sandbox has an active run at another task.
    public boolean isAnothers(SandboxId sandbox, TaskId task) {
        return find(sandbox)
                .filter(run -> run.isActive() && !run.task().equals(task))
                .isPresent();
    }

    public Optional<Run> find(RunId id) {
        return db.read(sql -> RunRows.find(sql, id));
    }

    /// Returns a run in the transaction of the caller.
    public Optional<Run> find(Sql sql, RunId id) throws SQLException {
        return RunRows.find(sql, id);
    }

    /// Returns the runs that match a filter, newest first.
    public List<Run> list(RunFilter filter) {
        return db.read(sql -> RunRows.list(sql, filter));
    }

    /// Returns the result that the agent of a run submitted, a JSON object as text.
    public Optional<String> result(RunId id) {
        return db.read(sql -> RunRows.result(sql, id));
    }

    /// Returns the runs of sandboxes that exist, newest first.
    public List<Run> ofLiveSandboxes() {
        return db.read(RunRows::ofLiveSandboxes);
    }

    /// Returns the number of active runs of each user who has any.
    public Map<UserId, Integer> activeByUser() {
        return db.read(RunRows::activeByUser);
    }

    /// Returns the active runs whose last heartbeat is before a time, or after `now` because the clock was set
    /// back. A run without a heartbeat is not one of them.
    public List<Run> silent(Instant before, Instant now) {
        return db.read(sql -> RunRows.silent(sql, before, now));
    }

    public List<Run> active() {
        return db.read(RunRows::active);
    }

    /// Stores a run that is about to start, and its task if the task is new. Fails with `run-in-progress` if the
    /// sandbox or the task has an active run.
    ///
    /// The run is stored with the abnormal end that it continues, so that after a crash the next server starts no
    /// second one.
    ///
    /// @param createdSandbox whether the sandbox was created for the run
    Run begin(SandboxInfo sandbox, NewRun wanted, RunOrigin origin, boolean createdSandbox) {
        return db.write(sql -> {
            if (RunRows.find(sql, sandbox.id()).filter(Run::isActive).isPresent()) {
                throw inProgress("thread " + sandbox.thread() + " has an agent at work");
            }
            Run run = fresh(sandbox, wanted, origin.session(), task(sql, sandbox.user(), wanted.task()));
            RunRows.insert(sql, run, createdSandbox);
            if (origin.restarted().isPresent()) {
                RestartRows.begun(sql, origin.restarted().get(), run.id());
            }
            return run;
        });
    }

    /// Fails with `run-in-progress` if the task has an active run.
    void requireFree(NewRun.Assignment assignment) {
        if (assignment instanceof NewRun.Assignment.Known(var id) && db.read(sql -> RunRows.isTaken(sql, id))) {
            throw inProgress("another run works on task " + id);
        }
    }

    static SandboxException inProgress(String what) {
        return new SandboxException(new RunFailure.RunInProgress(what + "; wait for its end, or end its sandbox"));
    }

    private TaskId task(Sql sql, UserId owner, NewRun.Assignment assignment) throws SQLException {
        switch (assignment) {
            case NewRun.Assignment.Fresh(var wanted) -> {
                Task task = Tasks.fresh(TaskId.random(random), owner, wanted, now());
                TaskRows.insert(sql, task);
                return task.id();
            }
            case NewRun.Assignment.Known(var id) -> {
                if (TaskRows.isQueued(sql, id)) {
                    throw new SandboxException(new RunFailure.RunInProgress("the server runs task " + id
                            + " from its queue; retry it with POST /api/v1/tasks/" + id + "/retry"));
                }
                return again(sql, id);
            }
            case NewRun.Assignment.Attempt(var id, var _, var check) -> {
                // The check decides about other runs: the attempts of a race run at the same time.
                check.require(sql);
                TaskRows.forgetResult(sql, id);
                return id;
            }
        }
    }

    private static TaskId again(Sql sql, TaskId id) throws SQLException {
        if (RunRows.isTaken(sql, id)) {
            throw inProgress("another run works on task " + id);
        }
        TaskRows.forgetResult(sql, id);
        return id;
    }

    private Run fresh(SandboxInfo sandbox, NewRun wanted, Optional<String> session, TaskId task) {
        return new Run(
                wanted.task() instanceof NewRun.Assignment.Attempt attempt ? attempt.run() : RunId.random(random),
                sandbox.id(),
                task,
                sandbox.user(),
                sandbox.thread(),
                wanted.program(),
                Run.Status.CREATING,
                Optional.empty(),
                Optional.empty(),
                wanted.budgetUsd(),
                Spent.NOTHING,
                session,
                Optional.empty(),
                now(),
                Optional.empty(),
                Optional.empty(),
                wanted.guardian());
    }

    boolean createdSandbox(Run run) {
        return db.read(sql -> RunRows.createdSandbox(sql, run.id()));
    }

    /// Stores the name of the worker process before the process starts. If the server crashes in between, the next
    /// server searches for a process of this name.
    Run named(Run run, String process) {
        return db.write(sql -> {
            RunRows.process(sql, run.id(), process);
            return RunRows.find(sql, run.sandbox()).orElse(run);
        });
    }

    /// Stores that the worker runs. Appends no event if the run is over.
    Run started(Run run) {
        var started = new RunEvent.Started(run.id(), run.task(), run.program().runtime());
        Optional<Outbox.PendingEvent> pending = db.write(sql -> {
            boolean isAlive = RunRows.started(sql, run.id());
            if (isAlive) {
                TaskRows.status(sql, run.task(), Task.Status.RUNNING, Optional.empty(), now());
            }
            RunRows.settle(sql, run.sandbox());
            return isAlive ? Optional.of(outbox.put(sql, run.sandbox(), event(run, started))) : Optional.empty();
        });
        pending.ifPresent(outbox::send);
        return find(run.sandbox()).orElse(run);
    }

    /// Appends the events that could not be appended when they happened.
    void sendPending() {
        outbox.sendPending();
    }

    /// Ends the run and its task. Does nothing if the run is over.
    ///
    /// @param code one of [ReasonCode]
    void end(Run run, Run.Status status, Optional<String> reason, String code) {
        if (find(run.sandbox())
                .filter(now -> now.id().equals(run.id()) && now.isActive())
                .isPresent()) {
            signal(listener -> listener.ending(run));
        }
        var end = new RunRows.End(status, reason.map(TextLimits::kept), code);
        db.write(sql -> ended(sql, run, end)).ifPresent(outbox::send);
    }

    /// Calls every listener, then throws the first exception. A run whose listener throws does not end now, because
    /// its tokens may still be valid: the supervisor tries again.
    private void signal(Consumer<RunListener> call) {
        Optional<RuntimeException> failure = Optional.empty();
        for (RunListener listener : listeners) {
            try {
                call.accept(listener);
            } catch (RuntimeException e) {
                failure.ifPresent(first -> first.addSuppressed(e));
                failure = failure.or(() -> Optional.of(e));
            }
        }
        failure.ifPresent(e -> {
            throw e;
        });
    }

    private Optional<Outbox.PendingEvent> ended(Sql sql, Run run, RunRows.End end) throws SQLException {
        if (!RunRows.end(sql, run.id(), end, now())) {
            return Optional.empty();
        }
        var outcome = end.status() == Run.Status.COMPLETED ? Task.Status.COMPLETED : Task.Status.FAILED;
        TaskRows.status(sql, run.task(), outcome, end.reason(), now());
        IdempotencyRecords.forget(sql, run.sandbox());
        ReviewRows.cancel(sql, run.sandbox());
        Spent spent = RunRows.find(sql, run.sandbox()).orElse(run).spent();
        var total = new RunEvent.Total(spent.costUsd(), spent.tokens(), spent.toolCalls());
        var body = new RunEvent.Ended(run.id(), run.task(), end.status(), end.reason(), Optional.of(end.code()), total);
        return Optional.of(outbox.put(sql, run.sandbox(), event(run, body)));
    }

    /// The id is derived from the run and the type, so that the log contains the event once.
    private static NewEvent event(Run run, RunEvent body) {
        return new NewEvent(Optional.of(NewEvent.OUR_IDS + run.id() + "." + body.type()), body, NewEvent.OURS);
    }

    /// Charges the usage of one model response to the run of a sandbox at this task, even if the run has just
    /// ended. Signals a run that has spent its budget.
    public Budget charge(SandboxId sandbox, TaskId task, Usage usage) {
        Run run = db.write(sql -> {
            Run charged = RunRows.at(sql, sandbox, task).orElseThrow(() -> noActiveRun(sandbox, task));
            RunRows.charge(sql, charged.id(), usage);
            return RunRows.at(sql, sandbox, task).orElse(charged);
        });
        return bounded(run);
    }

    /// Stops the run of a sandbox if it has spent its budget.
    void enforceBudget(SandboxId sandbox) {
        find(sandbox).ifPresent(this::bounded);
    }

    @CanIgnoreReturnValue
    private Budget bounded(Run run) {
        var left = allowance(run);
        if (left.isSpent() && run.isActive()) {
            signal(listener -> listener.overspent(run));
        }
        return left;
    }

    /// Returns the budget of the active run of a sandbox at this task. Fails with `no-run` if the sandbox has no
    /// active run.
    public Budget allowance(SandboxId sandbox, TaskId task) {
        return allowance(requireActive(sandbox, task));
    }

    private static Budget allowance(Run run) {
        return new Budget(run.budgetUsd(), run.spent().costUsd());
    }

    /// Applies an event of the worker at a task. Does nothing if that run is over.
    void apply(Sql sql, SandboxId sandbox, TaskId task, WorkerEvent event) throws SQLException {
        Optional<Run> run = RunRows.activeAtTask(sql, sandbox, task);
        if (run.isEmpty()) {
            return;
        }
        RunId id = run.get().id();
        switch (event) {
            case WorkerEvent.ToolUsed _ -> RunRows.toolUsed(sql, id);
            case WorkerEvent.UsageReported total -> reported(sql, run.get(), total);
            case WorkerEvent.ConversationNamed(String session) -> RunRows.session(sql, id, TextLimits.kept(session));
            case WorkerEvent.Completed(String summary) -> RunRows.verdict(sql, id, RunOutcome.completed(summary));
            case WorkerEvent.Failed(String reason, var code, var _) ->
                RunRows.verdict(sql, id, RunOutcome.failed(reason, code));
        }
    }

    /// Only for a program that does not use the model gateway, which counts by itself. If the budget is spent, the
    /// abort is stored in the same transaction, so that a server that takes over the run stops it.
    private static void reported(Sql sql, Run run, WorkerEvent.UsageReported total) throws SQLException {
        if (run.program().runtime() != Run.Runtime.COMMAND) {
            return;
        }
        RunRows.reported(sql, run.id(), total);
        if (RunRows.find(sql, run.sandbox())
                .filter(now -> allowance(now).isSpent())
                .isPresent()) {
            RunRows.desiredState(sql, run.id(), DesiredState.ABORT, Optional.of(ReasonCode.BUDGET), Optional.empty());
            RunRows.settle(sql, run.sandbox());
        }
    }

    /// State that the server requests from a worker. Immutable.
    ///
    /// @param reason why the run must end, as a sentence
    /// @param code   the same as a code
    public record Request(DesiredState state, Optional<String> reason, Optional<String> code) {}

    /// Stores a heartbeat of the worker. Returns the desired state.
    ///
    /// @param metrics of the worker, a JSON object as text
    public Request heartbeat(SandboxId sandbox, TaskId task, String metrics) {
        return db.write(sql -> {
            Run run = RunRows.activeAtTask(sql, sandbox, task).orElseThrow(() -> noActiveRun(sandbox, task));
            RunRows.heartbeat(sql, run.id(), new Run.Heartbeat(now(), metrics));
            return request(sql, run);
        });
    }

    private static Request request(Sql sql, Run run) throws SQLException {
        var desired = RunRows.desired(sql, run.id());
        boolean isHeld = desired.desiredState() == DesiredState.RUN && isHeldByReview(sql, run);
        return new Request(
                isHeld ? DesiredState.PAUSE : desired.desiredState(), stopReason(run, desired), desired.reason());
    }

    /// Returns the desired state as soon as there is a command for the worker, or at the timeout. Fails with
    /// `no-run` if the run has ended.
    public Request awaitCommand(SandboxId sandbox, TaskId task, boolean isPaused, Duration timeout)
            throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        MessageSignal signal = signals.of(sandbox);
        while (true) {
            long seen = signal.count();
            Request request = db.read(sql -> request(
                    sql, RunRows.activeAtTask(sql, sandbox, task).orElseThrow(() -> noActiveRun(sandbox, task))));
            if (!request.state().commands(isPaused).isEmpty() || !signal.await(seen, deadline)) {
                return request;
            }
        }
    }

    /// Reports whether the worker must stop its program until a review is answered. The SDKs of agents wait by
    /// themselves.
    private static boolean isHeldByReview(Sql sql, Run run) throws SQLException {
        return run.program().runtime() == Run.Runtime.COMMAND
                && ReviewRows.blocking(sql, run.sandbox()).isPresent();
    }

    /// Asks the worker of a sandbox to hold its agent, for machines that cannot pause. Fails with `no-run`.
    void hold(SandboxId sandbox) {
        desiredState(requireActive(sandbox), DesiredState.PAUSE, Optional.empty());
    }

    /// Resumes an agent that is held.
    void resumeAgent(SandboxId sandbox) {
        find(sandbox)
                .filter(run -> run.isActive() && desired(run).desiredState() == DesiredState.PAUSE)
                .ifPresent(run -> desiredState(run, DesiredState.RUN, Optional.empty()));
    }

    /// Sets the desired state of a worker. An abort is final.
    void desiredState(Run run, DesiredState desiredState, Optional<String> reason) {
        desiredState(run, desiredState, reason, Optional.empty());
    }

    /// @param detail the reason as a sentence, if the code has none
    void desiredState(Run run, DesiredState desiredState, Optional<String> reason, Optional<String> detail) {
        db.write(sql -> {
            RunRows.desiredState(sql, run.id(), desiredState, reason, detail.map(TextLimits::kept));
            RunRows.settle(sql, run.sandbox());
            return desiredState;
        });
        signals.signal(run.sandbox());
    }

    /// Returns why the server stops or stopped a run, as a sentence.
    public Optional<String> stopReason(RunId id) {
        return find(id).flatMap(run -> stopReason(run, desired(run)));
    }

    private static Optional<String> stopReason(Run run, RunRows.Desired desired) {
        return desired.detail().or(() -> desired.reason().map(code -> stopReason(run, code)));
    }

    private static String stopReason(Run run, String code) {
        if (code.equals(ReasonCode.ABORTED)) {
            return "stopped by request";
        }
        return run.budgetUsd()
                .map(budget -> "budget: spent " + Money.text(run.spent().costUsd()) + " of " + Money.text(budget))
                .orElse(code);
    }

    RunRows.Desired desired(Run run) {
        return db.read(sql -> RunRows.desired(sql, run.id()));
    }

    Optional<RunOutcome> verdict(Run run) {
        return db.read(sql -> RunRows.verdict(sql, run.id()));
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    static SandboxException noActiveRun(SandboxId sandbox, TaskId task) {
        return new SandboxException(new RunFailure.NoRun(sandbox, Optional.of(task)));
    }

    private static SandboxException noRun(SandboxId sandbox) {
        return new SandboxException(new RunFailure.NoRun(sandbox, Optional.empty()));
    }
}
