package dev.vivarium.core.task;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.Continuations;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts and stops the runs of attempts, each in a sandbox of its own, and records both in the audit log. Thread-safe.
public final class AttemptRunner {
    private static final Logger LOG = LoggerFactory.getLogger(AttemptRunner.class);
    private static final String NAME = "orchestrator";

    /// Activity of a sandbox that counts as part of its run.
    private static final Duration AFTER_RUN = Duration.ofSeconds(10);

    private static final long CHECK_OUTPUT = 64 * 1024;

    private final Agents agents;
    private final Continuations continuations;
    private final Sandboxes sandboxes;
    private final Audit audit;
    private final InstantSource clock;
    private final Predicate<SandboxId> isNeeded;

    /// Checks that run now.
    private final Map<RunId, Execution> checks = new ConcurrentHashMap<>();

    /// @param isNeeded reports whether the work in a sandbox is still being delivered
    public AttemptRunner(
            Agents agents,
            Continuations continuations,
            Sandboxes sandboxes,
            Audit audit,
            InstantSource clock,
            Predicate<SandboxId> isNeeded) {
        this.agents = agents;
        this.continuations = continuations;
        this.sandboxes = sandboxes;
        this.audit = audit;
        this.clock = clock;
        this.isNeeded = isNeeded;
    }

    /// Start of an attempt: files, a conversation, and the image of the files. Immutable.
    ///
    /// @param conversation sandbox of the run whose conversation continues
    record Start(Optional<SnapshotInfo> files, Optional<SandboxId> conversation, Optional<String> image) {
        static final Start EMPTY = new Start(Optional.empty(), Optional.empty(), Optional.empty());
    }

    /// Creates the sandbox of an attempt and starts its run.
    ///
    /// @param earlier the run that the attempt continues on a copy of its files
    void start(Dispatch.Job job, Start from, Optional<Run> earlier, NewRun.Check check) {
        Task task = job.row().task();
        var key = key(job);
        // An earlier server was killed between the creation of the sandbox and the begin of the run.
        sandboxes.find(key).ifPresent(left -> end(left, "its run did not begin"));
        var assignment =
                new NewRun.Assignment.Attempt(task.id(), job.attempt().run().orElseThrow(), check);
        NewSandbox sandbox = job.row().plan().sandbox().request(key);
        var wanted = new NewRun(
                assignment,
                job.row().plan().program().orElseThrow(),
                sandbox.image().or(from::image).map(sandbox::withImage).orElse(sandbox),
                job.row().plan().budgetUsd(),
                from.conversation(),
                job.row().plan().guardian(),
                job.row().plan().repository(),
                from.files());
        Run run = earlier.map(ended -> continuations.start(ended, wanted)).orElseGet(() -> agents.start(wanted));
        record(201, "POST /api/v1/sandboxes", run, "attempt " + job.attempt().number() + " at task " + task.id());
    }

    private static ThreadKey key(Dispatch.Job job) {
        Task task = job.row().task();
        return new ThreadKey(
                task.owner(), new ThreadId(task.id() + "-" + job.attempt().number()));
    }

    /// Asks the worker of a run to exit, and kills it if it does not.
    void stop(Run run, String reason) {
        try {
            agents.cancel(run, PauseReason.by(AuditEntry.system(NAME)));
            record(202, "POST /api/v1/runs/{run_id}/cancel", run, reason);
        } catch (SandboxException e) {
            LOG.debug("Run {} was not stopped: {}", run.id(), e.getMessage());
        }
    }

    /// Runs the check of an attempt of a race in the sandbox of its run. Returns why it did not pass. Throws if the
    /// sandbox is paused or its guest is lost; the check can then run again.
    Optional<TaskError> check(Run run, TaskPlan plan) {
        Optional<Sandbox> sandbox = sandboxes.find(run.sandbox());
        if (sandbox.isEmpty()) {
            return Optional.of(new TaskError(
                    TaskError.Kind.TRANSIENT, RetryPolicy.NOT_STARTED, "the sandbox ended before its check ran"));
        }
        var command = Command.of(plan.race().orElseThrow().check().toArray(String[]::new))
                .withTimeout(plan.schedule().runTimeout())
                .withOutputLimit(CHECK_OUTPUT);
        record(200, "POST /execute", run, "check of a race");
        try (var execution = sandbox.get().exec(command)) {
            checks.put(run.id(), execution);
            return failure(execution.collect());
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.CannotRun) {
                return Optional.of(checkFailed(e.failure().sentence()));
            }
            throw e;
        } finally {
            checks.remove(run.id());
        }
    }

    private static Optional<TaskError> failure(ExecResult result) {
        if (result.exit().cause() == Exit.Cause.EXITED && result.exitCode() == 0) {
            return Optional.empty();
        }
        String how = result.exit().timedOut() ? "took longer than timeout_minutes" : "exited with " + result.exitCode();
        String output = (result.stdout() + result.stderr()).strip();
        return Optional.of(checkFailed("the check " + how + (output.isEmpty() ? "" : ": " + output)));
    }

    private static TaskError checkFailed(String message) {
        return new TaskError(TaskError.Kind.UNKNOWN, RetryPolicy.CHECK_FAILED, message);
    }

    /// Kills the check of an attempt, if it runs.
    void endCheck(RunId run) {
        Optional.ofNullable(checks.get(run))
                .ifPresent(execution -> execution.signal(Signal.KILL.number(), SignalTarget.TREE));
    }

    /// Saves the disk of a sandbox. Returns the existing snapshot if an earlier server was killed after it took
    /// one.
    SnapshotInfo snapshot(Sandbox sandbox, String name) {
        ThreadKey key = sandbox.info().key();
        var taken = sandboxes.snapshots().list(key).stream()
                .filter(snapshot -> snapshot.name().equals(name))
                .findFirst();
        return taken.orElseGet(() -> {
            SnapshotInfo snapshot = sandboxes.snapshots().take(sandbox, name);
            record(201, "POST /threads/{thread_id}/snapshots", sandbox.id(), key, name);
            return snapshot;
        });
    }

    Optional<SnapshotInfo> find(SnapshotId id) {
        return sandboxes.snapshots().find(id.value());
    }

    Optional<Sandbox> find(SandboxId id) {
        return sandboxes.find(id);
    }

    /// Returns why a sandbox does not exist.
    String end(SandboxId id) {
        return sandboxes
                .findEnded(id)
                .flatMap(SandboxInfo::end)
                .map(End::sentence)
                .orElse("its sandbox was deleted");
    }

    void delete(SnapshotInfo snapshot) {
        sandboxes.snapshots().delete(snapshot);
        record(
                204,
                "DELETE /threads/{thread_id}/snapshots/{snapshot_id}",
                snapshot.sandbox(),
                snapshot.key(),
                snapshot.name());
    }

    private void record(int status, String route, Run run, String detail) {
        record(status, route, run.sandbox(), run.key(), detail);
    }

    private void record(int status, String route, SandboxId sandbox, ThreadKey key, String detail) {
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, status, route)
                .bySystem(NAME)
                .on(sandbox, key)
                .detail(detail));
    }

    /// Ends the sandbox of an attempt that has ended, to make room for another one. Reports whether it did: a
    /// sandbox that somebody has used since, or whose work is being delivered, is kept.
    boolean evict(SandboxId id, Instant endedAt) {
        Optional<Sandbox> sandbox = sandboxes
                .find(id)
                .filter(found -> !agents.isAtWork(id)
                        && !isNeeded.test(id)
                        && !found.info().lastActivity().isAfter(endedAt.plus(AFTER_RUN)));
        sandbox.ifPresent(found -> end(found, "its task has ended, and another task needs the room"));
        return sandbox.isPresent();
    }

    private void end(Sandbox sandbox, String reason) {
        sandboxes.terminate(sandbox.id(), End.Cause.SERVER, reason);
    }
}
