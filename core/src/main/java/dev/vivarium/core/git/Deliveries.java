package dev.vivarium.core.git;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.GitEvent;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.Repository;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.RunRepository.Status;
import dev.vivarium.model.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Delivers the work of completed runs: commits and pushes it, and opens a pull request. Thread-safe.
///
/// A durable reader of the log marks the repository of a run that has ended, in the transaction of its cursor. A
/// delivery can be repeated: a push of the same commit changes nothing, and an open pull request of the branch is used
/// again. Therefore the next server repeats the deliveries of a server that crashed.
public final class Deliveries implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Deliveries.class);
    private static final String NAME = "git";
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration POLL = Duration.ofSeconds(10);
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(10);
    private static final int ATTEMPTS = 5;
    private static final int BATCH = 16;

    private final Parts parts;
    private final Sandboxes sandboxes;
    private final DutyLease lease;
    private final Audit audit;
    private final EventLog log;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;
    private final Set<RunId> active = ConcurrentHashMap.newKeySet();
    private final ExecutorService workers = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("git-delivery-", 0).factory());

    /// Parts of the server that a delivery uses. Immutable.
    public record Parts(
            RunRepositories repositories, GitWorkspaces workspaces, Remotes remotes, Forge.Factory forges) {}

    public Deliveries(
            Parts parts, Sandboxes sandboxes, DutyLease lease, Audit audit, EventLog log, Scheduler scheduler) {
        this.parts = parts;
        this.sandboxes = sandboxes;
        this.lease = lease;
        this.audit = audit;
        this.log = log;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs();
    }

    /// Starts the reader, which the log closes, and the poll.
    public void start() {
        log.reader(NAME, new Handler());
        jobs.every(FIRST, POLL, "deliveries of git", this::deliverDue);
    }

    /// Starts all deliveries that are due.
    private void deliverDue() {
        try {
            if (lease.hold()) {
                parts.repositories.due(clock.instant(), BATCH).forEach(this::launch);
            }
        } catch (SandboxException e) {
            LOG.warn("Deliveries of git continue later: {}", e.getMessage());
        }
    }

    private void launch(RunRepository work) {
        if (active.add(work.run())) {
            workers.execute(() -> {
                try {
                    deliver(work);
                } catch (DutyLease.Superseded e) {
                    LOG.info("The delivery of run {} is left to another server", work.run());
                } catch (RuntimeException e) {
                    LOG.warn("The delivery of run {} failed and is repeated", work.run(), e);
                } finally {
                    active.remove(work.run());
                }
            });
        }
    }

    private void deliver(RunRepository work) {
        try {
            push(work)
                    .ifPresentOrElse(
                            commit -> delivered(work, commit),
                            () -> finish(work, Status.CLOSED, Optional.of("the run made no change to push")));
        } catch (SandboxException e) {
            failed(work, e.failure());
        }
    }

    private Optional<String> push(RunRepository work) {
        String commit = parts.workspaces.commit(sandboxes, work, message(work), List.of());
        LOG.debug("Run {} ended with commit {}", work.run(), commit);
        return parts.workspaces.push(sandboxes, work);
    }

    private static String message(RunRepository work) {
        String title = work.title().isBlank() ? "Work of " + work.run() : work.title();
        return work.repository().ticket().map(ticket -> ticket + ": " + title).orElse(title);
    }

    private void delivered(RunRepository work, String commit) {
        boolean wantsPull = work.repository()
                .onSuccess()
                .filter(Repository.OnSuccess.PULL_REQUEST::equals)
                .isPresent();
        if (wantsPull) {
            pullRequest(work);
        }
        finish(work, Status.DELIVERED, Optional.empty());
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, 200, "POST /api/v1/runs/{run_id}/git/push")
                .bySystem(NAME)
                .onSandbox(work.sandbox())
                .detail(work.branch() + " " + commit));
    }

    private void pullRequest(RunRepository work) {
        Forge forge = parts.forges.of(parts.remotes.of(work));
        BranchName base = work.base().orElseThrow();
        PullRequest pull = forge.findOpen(work.branch(), base)
                .orElseGet(() -> forge.open(
                        new Forge.NewPull(message(work), "Made by run `" + work.run() + "`.", work.branch(), base)));
        var link = new RunRepository.PullLink(pull.number(), pull.url());
        parts.repositories.pulled(work.run(), link);
        append(work, new GitEvent.PullRequested(work.run(), work.branch().value(), pull.number(), pull.url()));
    }

    /// Repeats a delivery that failed because of the remote. All other failures are final. A host may know a branch
    /// only a moment after the push.
    private void failed(RunRepository work, Failure failure) {
        boolean isTransient = failure instanceof GitFailure.RemoteFailed
                || failure instanceof GitFailure.RemoteTimedOut
                || failure instanceof GitFailure.NotOnRemote
                || failure instanceof Failure.ShuttingDown
                || failure instanceof Failure.StoreFailed;
        Instant now = clock.instant();
        String reason = failure.sentence();
        if (isTransient) {
            int attempts = lease.write(sql -> {
                int number = RunRepositories.attempted(sql, work.run(), now.plus(SHORTEST_PAUSE), reason);
                var next = now.plus(SHORTEST_PAUSE.multipliedBy(1L << Math.min(number - 1, 10)));
                RunRepositories.move(sql, work.run(), Status.DELIVERING, Status.DELIVERING, Optional.of(next));
                return number;
            });
            if (attempts < ATTEMPTS) {
                return;
            }
        }
        finish(work, Status.FAILED, Optional.of(reason));
        append(work, new GitEvent.Failed(work.run(), work.branch().value(), reason));
    }

    private void finish(RunRepository work, Status status, Optional<String> error) {
        lease.write(sql -> {
            RunRepositories.finish(sql, work.run(), status, error);
            return status;
        });
    }

    private void append(RunRepository work, GitEvent event) {
        var id = Optional.of(NewEvent.OUR_IDS + work.run() + "." + event.type());
        log.append(work.sandbox(), new NewEvent(id, event, NewEvent.OURS));
    }

    /// Marks the repositories of runs that have ended.
    private final class Handler implements EventReader.Handler {
        @Override
        public Set<String> types() {
            return Set.of("sandbox.run_ended");
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            if (!(log.codec().decode(event) instanceof RunEvent.Ended ended)) {
                return;
            }
            Optional<RunRepository> work = RunRepositories.find(sql, ended.run());
            if (work.isPresent()) {
                boolean isWanted = ended.status() == Run.Status.COMPLETED
                        && work.get().repository().onSuccess().isPresent();
                RunRepositories.move(
                        sql,
                        ended.run(),
                        Status.OPEN,
                        isWanted ? Status.DELIVERING : Status.CLOSED,
                        isWanted ? Optional.of(clock.instant()) : Optional.empty());
            }
        }

        @Override
        public void committed(Event event) {
            try {
                workers.execute(Deliveries.this::deliverDue);
            } catch (RejectedExecutionException e) {
                LOG.debug("the next server delivers the work of {}", event.logId());
            }
        }
    }

    /// Stops deliveries. The next server repeats those that have not ended. Idempotent.
    @Override
    public void close() {
        jobs.close();
        workers.shutdownNow();
        try {
            boolean _ = workers.awaitTermination(POLL.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
