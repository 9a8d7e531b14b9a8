package dev.vivarium.core.task;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts and stops the runs of attempts, each in a sandbox of its own, and records both in the audit log. Thread-safe.
public final class AttemptRunner {
    private static final Logger LOG = LoggerFactory.getLogger(AttemptRunner.class);
    private static final String NAME = "orchestrator";

    /// Activity of a sandbox that counts as part of its run.
    private static final Duration AFTER_RUN = Duration.ofSeconds(2);

    private final Agents agents;
    private final Sandboxes sandboxes;
    private final Audit audit;
    private final InstantSource clock;

    public AttemptRunner(Agents agents, Sandboxes sandboxes, Audit audit, InstantSource clock) {
        this.agents = agents;
        this.sandboxes = sandboxes;
        this.audit = audit;
        this.clock = clock;
    }

    /// Creates the sandbox of an attempt and starts its run.
    void start(Dispatch.Job job, NewRun.Check check) {
        Task task = job.row().task();
        var key = key(job);
        // An earlier server was killed between the creation of the sandbox and the begin of the run.
        sandboxes.find(key).ifPresent(left -> end(left, "its run did not begin"));
        var assignment =
                new NewRun.Assignment.Attempt(task.id(), job.attempt().run().orElseThrow(), check);
        Run run = agents.start(new NewRun(
                assignment,
                job.row().plan().program().orElseThrow(),
                job.row().plan().sandbox(key),
                job.row().plan().budgetUsd(),
                Optional.empty()));
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

    private void record(int status, String route, Run run, String detail) {
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, status, route)
                .bySystem(NAME)
                .on(run.sandbox(), run.key())
                .detail(detail));
    }

    /// Ends the sandbox of an attempt that has ended, to make room for another one. Reports whether it did: a
    /// sandbox that somebody has used since is kept.
    boolean evict(SandboxId id, Instant endedAt) {
        Optional<Sandbox> sandbox = sandboxes
                .find(id)
                .filter(found ->
                        !agents.isAtWork(id) && !found.info().lastActivity().isAfter(endedAt.plus(AFTER_RUN)));
        sandbox.ifPresent(found -> end(found, "its task has ended, and another task needs the room"));
        return sandbox.isPresent();
    }

    private void end(Sandbox sandbox, String reason) {
        sandboxes.terminate(sandbox.id(), End.Cause.SERVER, reason);
    }
}
