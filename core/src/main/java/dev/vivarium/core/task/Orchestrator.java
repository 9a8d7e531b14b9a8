package dev.vivarium.core.task;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.AttemptRows.Live;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs ready tasks: stores an attempt, starts its run in a sandbox, and applies the end of the run to the task.
/// Thread-safe.
///
/// A durable reader of the log applies the start and the end of each run in the transaction of its cursor. One thread
/// does the rest, after each change of the queue and at least every ten seconds. It compares the stored attempts with
/// the stored runs, so that it needs no memory of an earlier server:
///
/// | attempt | action |
/// |---|---|
/// | its run has not begun, and this server does not start it | start it again |
/// | its run has ended | end the attempt, or run the check of a race |
/// | must stop, and its run is active | stop the run |
///
/// The id of the run is stored with the attempt before the run begins. The transaction that begins the run checks the
/// lease of the orchestrator and that the attempt is live. Therefore a task never has two active runs.
public final class Orchestrator implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Orchestrator.class);
    private static final Duration POLL = Duration.ofSeconds(10);

    /// Pause after the server had no capacity.
    private static final Duration SHORTAGE = Duration.ofMillis(500);

    private final Dispatch dispatch;
    private final Runs runs;
    private final AttemptRunner runner;
    private final TaskDisks disks;
    private final AtomicBoolean isTending = new AtomicBoolean();
    private final Thread worker = CriticalThread.unstarted("orchestrator", this::run);
    private final BlockingQueue<Boolean> wakeups = new ArrayBlockingQueue<>(1);
    private final ExecutorService starters = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("attempt-", 0).factory());

    /// Runs that this server is starting or checking.
    private final Set<RunId> starting = ConcurrentHashMap.newKeySet();

    /// Runs that this server has asked to stop.
    private final Set<RunId> stopping = ConcurrentHashMap.newKeySet();

    private volatile boolean isShort;
    private volatile boolean closed;

    public Orchestrator(
            TaskQueue queue, Runs runs, AttemptRunner runner, DutyLease lease, TaskLimits limits, Restarts restarts) {
        this.dispatch = new Dispatch(queue, runs, lease, limits, restarts);
        this.runs = runs;
        this.runner = runner;
        this.disks = new TaskDisks(queue, lease, runner);
        queue.onChange(this::wake);
    }

    /// Starts the reader, which the log closes, and the thread.
    public void start(EventLog log) {
        boolean _ = dispatch.isHolder();
        log.reader("orchestrator", new Handler(log));
        worker.start();
    }

    private void wake() {
        boolean _ = wakeups.offer(true);
    }

    private void run() {
        Duration pause = Duration.ZERO;
        while (!closed) {
            try {
                var _ = wakeups.poll(pause.toMillis(), TimeUnit.MILLISECONDS);
                pause = closed ? POLL : step();
            } catch (InterruptedException e) {
                LOG.debug("the orchestrator is closing");
            } catch (SandboxException | DutyLease.Superseded e) {
                LOG.warn("The orchestrator continues later: {}", e.getMessage());
                pause = POLL;
            } catch (RuntimeException e) {
                LOG.error("The orchestrator failed and continues later", e);
                pause = POLL;
            }
        }
    }

    /// Does everything that can be done now. Returns the time after which more may be due.
    private Duration step() {
        if (!dispatch.isHolder()) {
            return POLL;
        }
        var next = dispatch.expire();
        dispatch.current().forEach(this::advance);
        maintainDisks();
        boolean wasShort = isShort;
        isShort = false;
        if (!wasShort) {
            dispatch.assign().forEach(this::launch);
        }
        Duration pause = wasShort ? SHORTAGE : next.map(dispatch::until).orElse(POLL);
        return pause.isNegative() ? Duration.ZERO : pause.compareTo(POLL) < 0 ? pause : POLL;
    }

    private void maintainDisks() {
        if (disks.isUsed() && isTending.compareAndSet(false, true)) {
            starters.execute(() -> {
                try {
                    disks.maintain();
                } catch (SandboxException | DutyLease.Superseded e) {
                    LOG.warn("The disks of tasks are saved and deleted later: {}", e.getMessage());
                } finally {
                    isTending.set(false);
                }
            });
        }
    }

    private void advance(Dispatch.Current current) {
        Live attempt = current.attempt();
        RunId id = attempt.run().orElseThrow();
        if (attempt.isGivenUp()) {
            runner.endCheck(id);
        }
        if (starting.contains(id)) {
            return;
        }
        if (current.run().isEmpty()) {
            if (!isShort) {
                dispatch.adopt(attempt).ifPresent(this::launch);
            }
        } else if (!current.run().get().isActive()) {
            stopping.remove(id);
            ended(attempt, current.run().get());
        } else if (attempt.stopCode().isPresent() && stopping.add(id)) {
            starters.execute(
                    () -> runner.stop(current.run().get(), attempt.stopCode().get()));
        }
    }

    private void ended(Live attempt, Run run) {
        if (attempt.status() == TaskAttempt.Status.CHECKING && !attempt.isGivenUp()) {
            perform(run.id(), () -> check(attempt, run));
        } else {
            dispatch.settle(run);
            wake();
        }
    }

    private void launch(Dispatch.Job job) {
        perform(job.attempt().run().orElseThrow(), () -> start(job));
    }

    /// Does slow work for a run on a thread of its own, unless such work is under way.
    private void perform(RunId id, Runnable work) {
        if (starting.add(id)) {
            starters.execute(() -> {
                try {
                    work.run();
                } finally {
                    starting.remove(id);
                }
            });
        }
    }

    /// Runs the check of an attempt of a race. If the server is killed meanwhile, the next one runs it again.
    private void check(Live attempt, Run run) {
        try {
            Optional<TaskError> error = runner.check(run, dispatch.plan(attempt));
            if (!closed) {
                dispatch.checked(attempt, error);
            }
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn(
                    "The check of attempt {} at task {} runs again: {}",
                    attempt.number(),
                    attempt.task(),
                    e.getMessage());
        }
    }

    private void start(Dispatch.Job job) {
        try {
            Optional<Run> earlier = dispatch.continued(job.attempt());
            var from = earlier.isPresent() ? AttemptRunner.Start.EMPTY : disks.startOf(job);
            runner.start(job, from, earlier, sql -> dispatch.requireLive(sql, job.attempt()));
        } catch (SandboxException e) {
            refused(job, e.failure());
        } catch (DutyLease.Superseded e) {
            LOG.info(
                    "Attempt {} at task {} was not started: {}",
                    job.attempt().number(),
                    job.attempt().task(),
                    e.getMessage());
        } catch (RuntimeException e) {
            if (!(e instanceof Dispatch.AttemptOver)) {
                LOG.warn(
                        "Attempt {} at task {} was not started",
                        job.attempt().number(),
                        job.attempt().task(),
                        e);
            }
            notStarted(job, Optional.empty(), String.valueOf(e.getMessage()));
        }
    }

    /// A server that shuts down leaves the attempt to the next server.
    private void refused(Dispatch.Job job, Failure failure) {
        if (failure instanceof Failure.ShuttingDown) {
            return;
        }
        if (RetryPolicy.isShortage(failure)) {
            isShort = dispatch.finished(failure, job.row().task().owner()).stream()
                    .noneMatch(old -> runner.evict(old.sandbox(), old.endedAt()));
        }
        notStarted(job, Optional.of(failure), failure.sentence());
        wake();
    }

    private void notStarted(Dispatch.Job job, Optional<Failure> failure, String message) {
        try {
            dispatch.notStarted(job.attempt(), failure, message);
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn(
                    "Attempt {} at task {} is ended later: {}",
                    job.attempt().number(),
                    job.attempt().task(),
                    e.getMessage());
        }
    }

    /// Applies the events of runs to their attempts.
    private final class Handler implements EventReader.Handler {
        private final EventLog log;

        /// Events of tasks by the event that caused them, to publish after the commit. A retry replaces its
        /// entry.
        private final Map<String, List<Outbox.PendingEvent>> caused = new ConcurrentHashMap<>();

        Handler(EventLog log) {
            this.log = log;
        }

        @Override
        public Set<String> types() {
            return Set.of("sandbox.run_started", "sandbox.run_ended");
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            Optional<RunId> id = switch (log.codec().decode(event)) {
                case RunEvent.Started started -> Optional.of(started.run());
                case RunEvent.Ended ended -> Optional.of(ended.run());
                default -> Optional.empty();
            };
            Optional<Run> run = id.isEmpty() ? Optional.empty() : runs.find(sql, id.get());
            if (run.isPresent()) {
                caused.put(key(event), dispatch.settle(sql, run.get()));
            }
        }

        @Override
        public void committed(Event event) {
            dispatch.publish(Optional.ofNullable(caused.remove(key(event))).orElse(List.of()));
            wake();
        }

        private static String key(Event event) {
            return Event.idOf(event.logId(), event.seq());
        }
    }

    /// Stops the thread. Runs continue. Idempotent.
    @Override
    public void close() {
        closed = true;
        worker.interrupt();
        starters.shutdown();
        try {
            worker.join(POLL);
            boolean _ = starters.awaitTermination(POLL.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
