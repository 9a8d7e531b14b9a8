package dev.vivarium.core.run;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Supervisor of agent runs: follows each worker, finds it again after a restart, stops it if necessary, and stores the
/// result. Thread-safe.
///
/// Every second it checks all active runs. After a restart, a lost connection or a pause, it follows a run again as
/// soon as the sandbox runs.
public final class Supervisor implements SandboxListener, RunListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);
    private static final Duration BEAT = Duration.ofSeconds(1);

    private static final Duration REVIEWS_EVERY = Duration.ofSeconds(5);
    private static final Duration TRANSCRIPTS_EVERY = Duration.ofSeconds(10);
    private static final Duration PRUNE_EVERY = Duration.ofMinutes(10);
    private static final Duration TRANSCRIPT_TIMEOUT = Duration.ofSeconds(10);

    /// Time from the signal to the kill, in which a worker can report its result.
    private static final Duration GRACE = Duration.ofSeconds(15);

    private static final String NOT_STARTED = "the server stopped while the worker was being started";
    private static final String GONE = "the worker is gone: its sandbox was started again without it";

    /// Number of failed searches after which a worker counts as gone.
    private static final int LOOKS = 3;

    private final Runs runs;
    private final RunEvents events;
    private final Reviews reviews;
    private final Transcripts transcripts;
    private final Duration afterRun;
    private final InstantSource clock;
    private final Map<RunId, Run> active = new ConcurrentHashMap<>();
    private final Set<RunId> followed = ConcurrentHashMap.newKeySet();
    private final Map<RunId, Integer> misses = new ConcurrentHashMap<>();
    private final Map<RunId, Instant> kills = new ConcurrentHashMap<>();
    private final ExecutorService followers = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("run-", 0).factory());
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile Optional<Sandboxes> sandboxes = Optional.empty();
    private final Scheduler.Jobs jobs;

    /// Register it as a listener of [Sandboxes], then call [#start].
    ///
    /// @param afterRun idle timeout of a sandbox after the run that created it; zero for no change
    public Supervisor(
            Runs runs,
            RunEvents events,
            Reviews reviews,
            Transcripts transcripts,
            Duration afterRun,
            Scheduler scheduler) {
        this.runs = runs;
        this.events = events;
        this.reviews = reviews;
        this.transcripts = transcripts;
        this.afterRun = afterRun;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs();
    }

    /// Takes over the runs of an earlier server and supervises all runs until [#close].
    public void start(Sandboxes all) {
        sandboxes = Optional.of(all);
        runs.addListener(this);
        runs.active().forEach(this::takeOver);
        jobs.every(BEAT, "supervision of runs", this::beat)
                .every(REVIEWS_EVERY, "expiry of reviews", this::expireReviews)
                .every(TRANSCRIPTS_EVERY, "saving of transcripts", this::saveTranscripts)
                .every(BEAT, PRUNE_EVERY, "deletion of transcripts", () -> transcripts.prune(this::isAtWork));
    }

    private Optional<Sandbox> find(SandboxId id) {
        return sandboxes.flatMap(all -> all.find(id));
    }

    private void takeOver(Run run) {
        if (run.process().isEmpty()) {
            runs.end(run, Run.Status.FAILED, Optional.of(NOT_STARTED), ReasonCode.NOT_STARTED);
            return;
        }
        active.put(run.id(), run);
        if (runs.desired(run).desiredState() == DesiredState.ABORT) {
            kills.put(run.id(), clock.instant().plus(GRACE));
        }
    }

    /// Supervises a new run.
    void take(Run run) {
        active.put(run.id(), run);
        follow(run);
    }

    @Override
    public void ending(Run run) {}

    @Override
    public void overspent(Run run) {
        stop(run, ReasonCode.BUDGET);
    }

    /// Asks the worker to exit, and kills it after [#GRACE].
    ///
    /// @param code one of [ReasonCode]
    void stop(Run run, String code) {
        stop(run, code, Optional.empty());
    }

    /// @param detail the reason as a sentence, if the code has none
    void stop(Run run, String code, Optional<String> detail) {
        runs.desiredState(run, DesiredState.ABORT, Optional.of(code), detail);
        kills.putIfAbsent(run.id(), clock.instant().plus(GRACE));
        signal(run, Signal.TERM, SignalTarget.PROCESS);
    }

    /// Ends a run whose worker does not end it. The worker loses its tokens and may still run, so the caller must
    /// end or freeze its sandbox.
    void fail(Run run, RunOutcome failure) {
        if (!active.containsKey(run.id())) {
            return;
        }
        saveTranscript(run);
        events.fail(runs.find(run.id()).orElse(run), failure);
        runs.end(run, Run.Status.FAILED, Optional.of(failure.text()), failure.code());
        forget(run);
    }

    private void signal(Run run, Signal signal, SignalTarget target) {
        Run known = active.getOrDefault(run.id(), run);
        try {
            Optional<Sandbox> sandbox = find(known.sandbox());
            if (sandbox.isPresent() && known.process().isPresent()) {
                sandbox.get().processes().require(known.process().get()).signal(signal, target);
            }
        } catch (SandboxException e) {
            LOG.debug("The signal did not reach run {}: {}", run.id(), e.getMessage());
        }
    }

    private void beat() {
        active.values().forEach(this::check);
        followers.execute(this::sendPending);
    }

    private void saveTranscripts() {
        active.values().forEach(run -> followers.execute(() -> saveTranscript(run)));
    }

    private boolean isAtWork(SandboxId sandbox) {
        return active.values().stream().anyMatch(run -> run.sandbox().equals(sandbox));
    }

    private void expireReviews() {
        try {
            if (!active.isEmpty()) {
                reviews.expireDue();
                reviews.remindDue();
                reviews.toFail().forEach(this::stopFor);
            }
        } catch (SandboxException e) {
            LOG.warn("Reviews past their deadline stay pending: {}", e.getMessage());
        }
    }

    /// Stops the run that waits for an expired review. The run of another server is left to that server.
    private void stopFor(Review review) {
        Optional<Run> waiting = active.values().stream()
                .filter(run ->
                        run.sandbox().equals(review.sandbox()) && run.task().equals(review.task()))
                .findFirst();
        if (waiting.isPresent()) {
            stop(waiting.get(), ReasonCode.REVIEW_EXPIRED);
            reviews.runStopped(review);
        } else if (!runs.isAtWork(review.sandbox())) {
            reviews.runStopped(review);
        }
    }

    private void sendPending() {
        try {
            runs.sendPending();
        } catch (SandboxException e) {
            LOG.warn("Events of runs are appended later: {}", e.getMessage());
        }
    }

    private void check(Run run) {
        Instant deadline = kills.get(run.id());
        if (deadline != null && clock.instant().isAfter(deadline)) {
            kills.put(run.id(), clock.instant().plus(GRACE));
            followers.execute(() -> signal(run, Signal.KILL, SignalTarget.TREE));
        }
        follow(run);
    }

    private void follow(Run run) {
        if (stopped.getCount() > 0 && followed.add(run.id())) {
            followers.execute(() -> {
                try {
                    followToTheEnd(run);
                } catch (SandboxException e) {
                    missed(run, e.failure());
                } catch (RuntimeException e) {
                    LOG.warn("Run {} is followed again in a second", run.id(), e);
                } finally {
                    followed.remove(run.id());
                }
            });
        }
    }

    private void followToTheEnd(Run run) {
        Optional<Sandbox> sandbox = find(run.sandbox());
        if (sandbox.isEmpty()) {
            sandboxEnded(run.sandbox());
            return;
        }
        SandboxInfo info = sandbox.get().info();
        if (info.status() == Status.HIBERNATED) {
            runs.end(
                    run,
                    Run.Status.TERMINATED,
                    Optional.of("its sandbox hibernated: " + info.stateReason().orElse("")),
                    ReasonCode.of(End.Cause.IDLE));
            forget(run);
            return;
        }
        if (info.status() != Status.RUNNING) {
            return;
        }
        ManagedProcess process = sandbox.get().processes().require(run.process().orElseThrow());
        misses.remove(run.id());
        if (run.status() == Run.Status.CREATING) {
            // An earlier server crashed between the start of the worker and the change of the state.
            active.replace(run.id(), runs.started(run));
        }
        var words = new WorkerOutputTail();
        words.await(process, () -> stopped.getCount() == 0)
                .map(sandbox.get()::correctCause)
                .ifPresent(exit -> ended(run, exit, words.text()));
    }

    /// After a lost connection the worker is found again by its name, unless its machine was started again.
    private void missed(Run run, Failure failure) {
        boolean isGone = failure instanceof Failure.NoSuchProcess && misses.merge(run.id(), 1, Integer::sum) >= LOOKS;
        if (isGone && active.containsKey(run.id())) {
            boolean wasThere = run.status() != Run.Status.CREATING;
            String code = wasThere ? ReasonCode.CRASHED : ReasonCode.NOT_STARTED;
            runs.end(run, Run.Status.FAILED, Optional.of(wasThere ? GONE : NOT_STARTED), code);
            forget(run);
        }
    }

    /// Saves the transcript if the agent has named its conversation.
    private void saveTranscript(Run run) {
        try {
            boolean hasOne = runs.find(run.sandbox()).flatMap(Run::session).isPresent();
            if (hasOne) {
                find(run.sandbox()).ifPresent(sandbox -> transcripts.save(sandbox, run, TRANSCRIPT_TIMEOUT));
            }
        } catch (SandboxException e) {
            LOG.warn("The transcript of {} is saved later: {}", run.sandbox(), e.getMessage());
        }
    }

    /// Copies the transcript while the sandbox still has its files.
    @Override
    public void ending(Sandbox sandbox) {
        for (Run run : active.values()) {
            boolean isHere =
                    run.sandbox().equals(sandbox.id()) && sandbox.info().status() == Status.RUNNING;
            if (isHere && runs.find(run.sandbox()).flatMap(Run::session).isPresent()) {
                transcripts.save(sandbox, run, TRANSCRIPT_TIMEOUT);
            }
        }
    }

    private void ended(Run run, Exit exit, String words) {
        if (!active.containsKey(run.id())) {
            return;
        }
        saveTranscript(run);
        // The worker's last events may have reached the log and not the run, if an earlier server was killed.
        events.await(run.sandbox());
        Optional<RunOutcome> verdict = runs.verdict(run);
        // An agent that continues after such a deadline cannot complete its run.
        boolean isTooLate = runs.desired(run)
                .reason()
                .filter(ReasonCode.REVIEW_EXPIRED::equals)
                .isPresent();
        boolean isCompleted = exit.exitCode() == 0
                && !isTooLate
                && verdict.filter(v -> v.kind() == RunOutcome.Kind.COMPLETED).isPresent();
        if (isCompleted) {
            runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED);
        } else {
            failed(run, exit, failure(run, exit, words));
        }
        forget(run);
    }

    /// Ends a failed run. A stopped or killed worker leaves processes behind, and possibly no last event.
    private void failed(Run run, Exit exit, RunOutcome failure) {
        Optional<String> stop = runs.desired(run).reason();
        if (stop.isPresent() || exit.cause() != Exit.Cause.EXITED) {
            find(run.sandbox()).ifPresent(sandbox -> Workers.killProcesses(sandbox, run));
        }
        boolean isReported = runs.verdict(run)
                .filter(v -> v.kind() == RunOutcome.Kind.FAILED)
                .isPresent();
        if (!isReported) {
            events.fail(runs.find(run.id()).orElse(run), failure);
        }
        runs.end(run, Run.Status.FAILED, Optional.of(failure.text()), failure.code());
    }

    /// Returns the reason of a failure: that of a stop, else that of the agent, else the exit of the worker.
    private RunOutcome failure(Run run, Exit exit, String words) {
        Optional<String> stop = runs.desired(run).reason();
        if (stop.isPresent()) {
            return new RunOutcome(
                    RunOutcome.Kind.FAILED, runs.stopReason(run.id()).orElse(stop.get()), stop.get());
        }
        return runs.verdict(run)
                .filter(verdict -> verdict.kind() == RunOutcome.Kind.FAILED)
                .filter(verdict -> !verdict.text().isBlank())
                .orElseGet(() -> new RunOutcome(
                        RunOutcome.Kind.FAILED,
                        how(exit) + (words.isEmpty() ? " and wrote nothing" : ": " + words),
                        ReasonCode.of(exit)));
    }

    private static String how(Exit exit) {
        return switch (exit.cause()) {
            case EXITED -> "the worker exited with " + exit.code();
            case OOM -> "the worker was killed for want of memory";
            case SIGNALLED, TIMEOUT, IDLE_TIMEOUT, CANCELLED, DETACHED ->
                "the worker was ended by signal " + exit.code();
        };
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        sandboxEnded(sandbox.id());
    }

    private void sandboxEnded(SandboxId sandbox) {
        transcripts.forget(sandbox);
        for (Run run : active.values()) {
            if (run.sandbox().equals(sandbox)) {
                followers.execute(() -> {
                    events.await(run.sandbox());
                    Optional<End> end =
                            sandboxes.flatMap(all -> all.findEnded(sandbox)).flatMap(SandboxInfo::end);
                    runs.end(
                            run,
                            Run.Status.TERMINATED,
                            Optional.of(end.map(End::sentence).orElse("its sandbox ended")),
                            end.map(known -> ReasonCode.of(known.cause())).orElse(ReasonCode.CRASHED));
                    forget(run);
                });
            }
        }
    }

    /// Forgets a run that has ended, and releases the sandbox that it created earlier than others.
    private void forget(Run run) {
        if (!afterRun.isZero() && runs.createdSandbox(run)) {
            find(run.sandbox()).ifPresent(sandbox -> sandbox.limitIdle(afterRun));
        }
        active.remove(run.id());
        kills.remove(run.id());
        misses.remove(run.id());
    }

    /// Stops the supervision. The workers continue. Idempotent.
    @Override
    public void close() {
        stopped.countDown();
        jobs.close();
        followers.shutdownNow();
        try {
            boolean _ = followers.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
