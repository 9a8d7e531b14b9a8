package dev.vivarium.core.task;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.TaskRows;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.AttemptRows.Live;
import dev.vivarium.core.task.QueueRows.State;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Attempts of workers outside of the server at tasks without a program. A worker renews the lease of its attempt; if
/// the lease lapses, the task returns to the queue. Thread-safe.
public final class TaskClaims {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    private final TaskQueue queue;

    public TaskClaims(TaskQueue queue) {
        this.queue = queue;
    }

    /// Request of a worker for a task. Immutable.
    ///
    /// @param owner     only tasks of this user
    /// @param agentType only tasks of this type
    public record Claim(String worker, Optional<UserId> owner, Optional<String> agentType, Duration lease) {
        public Claim {
            require(
                    worker.matches("[^\\p{Cntrl}]{1,100}"),
                    "worker",
                    "must be 1 to 100 characters without control characters");
            requireLease(lease);
        }
    }

    private static void requireLease(Duration lease) {
        require(
                lease.compareTo(SHORTEST) >= 0 && lease.compareTo(LONGEST) <= 0,
                "lease_s",
                "must be " + SHORTEST.toSeconds() + " to " + LONGEST.toSeconds());
    }

    /// Starts an attempt at the next ready task without a program. Returns nothing if no such task is ready.
    public Optional<QueuedTask> claim(Claim claim) {
        Optional<TaskId> claimed = Optional.empty();
        while (claimed.isEmpty()) {
            Optional<State> next = queue.db().read(sql -> QueueRows.claimable(sql, claim.owner, claim.agentType));
            if (next.isEmpty()) {
                return Optional.empty();
            }
            claimed = claim(claim, next.get().id());
        }
        return queue.find(claimed.get());
    }

    /// Returns nothing if another worker was faster.
    private Optional<TaskId> claim(Claim claim, TaskId id) {
        List<Outbox.PendingEvent> events = queue.db().write(sql -> {
            var changes = queue.changes(sql);
            State task = QueueRows.state(sql, id).orElseThrow();
            if (task.status() == Task.Status.READY) {
                Instant now = queue.now();
                var attempt = new Live(
                        id,
                        AttemptRows.next(sql, id),
                        0,
                        Optional.empty(),
                        Optional.of(claim.worker),
                        TaskAttempt.Status.ASSIGNED,
                        Optional.empty(),
                        now,
                        Optional.of(now.plus(claim.lease)),
                        0);
                AttemptRows.insert(sql, attempt);
                TaskRows.forgetResult(sql, id);
                changes.assigned(task, attempt);
                changes.running(QueueRows.state(sql, id).orElseThrow(), attempt);
            }
            return changes.events();
        });
        queue.publish(events);
        return events.isEmpty() ? Optional.empty() : Optional.of(id);
    }

    /// Renews the lease of an attempt. Fails with `attempt-over`.
    public void heartbeat(TaskId id, int attempt, Duration lease) {
        requireLease(lease);
        queue.db().write(sql -> {
            AttemptRows.renew(sql, requireLive(sql, id, attempt), queue.now().plus(lease));
            return id;
        });
    }

    /// Completes an attempt and its task. Fails with `attempt-over`.
    ///
    /// @param result a JSON object as text
    public void complete(TaskId id, int attempt, Optional<String> result) {
        finish(id, attempt, (sql, changes) -> {
            if (result.isPresent()) {
                TaskRows.result(sql, id, result.get(), queue.now());
            }
            changes.completed(QueueRows.state(sql, id).orElseThrow(), requireLive(sql, id, attempt));
        });
    }

    /// Ends an attempt with an error, which decides about a retry. Fails with `attempt-over`.
    public void fail(TaskId id, int attempt, TaskError error) {
        finish(
                id,
                attempt,
                (sql, changes) ->
                        changes.failed(QueueRows.state(sql, id).orElseThrow(), requireLive(sql, id, attempt), error));
    }

    private void finish(TaskId id, int attempt, TaskQueue.Change change) {
        queue.publish(queue.db().write(sql -> {
            requireLive(sql, id, attempt);
            var changes = queue.changes(sql);
            change.apply(sql, changes);
            return changes.events();
        }));
    }

    /// A lease that has lapsed is not live, also if the orchestrator has not noticed it yet.
    private Live requireLive(Sql sql, TaskId id, int attempt) throws SQLException {
        return AttemptRows.live(sql, id).stream()
                .filter(live -> live.number() == attempt && live.worker().isPresent())
                .filter(live -> live.leaseUntil().filter(queue.now()::isBefore).isPresent())
                .findFirst()
                .orElseThrow(() -> new SandboxException(new RunFailure.AttemptOver(id, attempt)));
    }
}
