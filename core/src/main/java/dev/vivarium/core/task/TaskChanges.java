package dev.vivarium.core.task;

import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.TextLimits;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.QueueRows.State;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Task.Status;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/// Changes of tasks in one transaction, with their effects on dependent tasks and their events. Confined to the
/// transaction.
final class TaskChanges {
    private final Sql sql;
    private final Outbox outbox;
    private final RetryPolicy policy;
    private final Instant now;
    private final List<Outbox.PendingEvent> events = new ArrayList<>();

    TaskChanges(Sql sql, Outbox outbox, RetryPolicy policy, Instant now) {
        this.sql = sql;
        this.outbox = outbox;
        this.policy = policy;
        this.now = now;
    }

    /// Returns the events, to send after the commit.
    List<Outbox.PendingEvent> events() {
        return events;
    }

    /// Reason and attempt of a change.
    private record Detail(
            Optional<AttemptRows.Live> attempt,
            Optional<String> reason,
            Optional<TaskError.Kind> errorClass,
            Optional<Instant> nextAttemptAt) {
        static final Detail NONE = new Detail(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        static Detail because(String reason) {
            return new Detail(Optional.empty(), Optional.of(reason), Optional.empty(), Optional.empty());
        }

        static Detail of(AttemptRows.Live attempt) {
            return new Detail(Optional.of(attempt), Optional.empty(), Optional.empty(), Optional.empty());
        }

        static Detail of(AttemptRows.Live attempt, TaskError error) {
            return new Detail(
                    Optional.of(attempt), Optional.of(error.message()), Optional.of(error.kind()), Optional.empty());
        }

        Detail until(Instant next) {
            return new Detail(attempt, reason, errorClass, Optional.of(next));
        }
    }

    /// Decides the first status of a task whose row and dependencies are stored.
    void added(State task) throws SQLException {
        publish(task, 0, Detail.NONE);
        settle(task);
    }

    /// Moves a pending task on, if its dependencies are completed or lost.
    private void settle(State task) throws SQLException {
        List<State> dependencies = QueueRows.dependencies(sql, task.id());
        Optional<State> lost = dependencies.stream()
                .filter(other -> Transitions.isLost(other.status()))
                .findFirst();
        if (lost.isPresent()) {
            move(task, Status.BLOCKED, Detail.because(because(lost.get())));
            QueueRows.undiagnosed(sql, lost.get().id());
        } else if (dependencies.stream().allMatch(other -> other.status() == Status.COMPLETED)) {
            ready(task, Detail.NONE);
        }
    }

    private static String because(State lost) {
        String state = lost.status() == Status.FAILED
                ? "failed"
                : "is " + lost.status().text();
        return "depends on " + lost.id() + " (" + lost.title() + "), which " + state;
    }

    private void ready(State task, Detail detail) throws SQLException {
        boolean isReturned = task.status() == Status.ASSIGNED || task.status() == Status.RUNNING;
        move(task, Status.READY, detail);
        QueueRows.enqueue(sql, task.id(), now, isReturned);
    }

    /// Returns a task to the queue after the pause before its retry.
    void due(State task) throws SQLException {
        ready(task, Detail.NONE);
    }

    void assigned(State task, AttemptRows.Live attempt) throws SQLException {
        move(task, Status.ASSIGNED, Detail.of(attempt));
    }

    /// Stores that the run of an attempt runs, or that its worker works.
    void running(State task, AttemptRows.Live attempt) throws SQLException {
        AttemptRows.status(sql, attempt, TaskAttempt.Status.RUNNING);
        if (task.status() == Status.ASSIGNED) {
            move(task, Status.RUNNING, Detail.of(attempt));
        }
    }

    /// Returns an assigned task to its place in the queue. Its attempt had no effect.
    void released(State task, AttemptRows.Live attempt, String reason) throws SQLException {
        AttemptRows.delete(sql, attempt);
        ready(task, Detail.because(reason));
    }

    void completed(State task, AttemptRows.Live attempt) throws SQLException {
        AttemptRows.end(sql, attempt, TaskAttempt.Status.COMPLETED, Optional.empty(), now);
        move(running(task, Detail.of(attempt)), Status.COMPLETED, Detail.of(attempt));
        for (State dependent : QueueRows.dependents(sql, task.id())) {
            if (dependent.status() == Status.PENDING) {
                settle(dependent);
            }
        }
    }

    /// Returns the task as running, also if its run ended before its start was noticed.
    private State running(State task, Detail detail) throws SQLException {
        if (task.status() == Status.ASSIGNED) {
            move(task, Status.RUNNING, detail);
        }
        return task.with(Status.RUNNING);
    }

    /// Stores that the run of an attempt of a race has completed. The orchestrator runs its check.
    void checking(State task, AttemptRows.Live attempt) throws SQLException {
        AttemptRows.status(sql, attempt, TaskAttempt.Status.CHECKING);
        State _ = running(task, Detail.of(attempt));
    }

    /// Completes a task with an attempt of a race that passed its check. The others are stopped.
    void won(State task, AttemptRows.Live winner) throws SQLException {
        for (AttemptRows.Live other : AttemptRows.live(sql, task.id())) {
            if (other.number() != winner.number()) {
                AttemptRows.stop(sql, other, AttemptRows.RACE_LOST);
            }
        }
        AttemptRows.takeResult(sql, winner);
        completed(task, winner);
    }

    /// Ends an attempt that was cancelled with its task, or that lost a race.
    void givenUp(AttemptRows.Live attempt) throws SQLException {
        boolean isLost =
                attempt.stopCode().filter(AttemptRows.RACE_LOST::equals).isPresent();
        if (isLost) {
            cancelled(attempt, AttemptRows.RACE_LOST, "another attempt won the race");
        } else {
            cancelled(attempt, AttemptRows.CANCELLED, "its task was cancelled");
        }
    }

    private void cancelled(AttemptRows.Live attempt, String code, String reason) throws SQLException {
        var error = new TaskError(TaskError.Kind.PERMANENT, code, reason);
        AttemptRows.end(sql, attempt, TaskAttempt.Status.CANCELLED, Optional.of(error), now);
    }

    /// Ends an attempt with an error. The task is retried, if the class of the error and the task permit it.
    void failed(State task, AttemptRows.Live attempt, TaskError why) throws SQLException {
        var error = new TaskError(why.kind(), why.code(), TextLimits.kept(why.message()));
        boolean isLapsed = error.code().equals(RetryPolicy.LEASE_LAPSED);
        AttemptRows.end(
                sql,
                attempt,
                isLapsed ? TaskAttempt.Status.LAPSED : TaskAttempt.Status.FAILED,
                Optional.of(error),
                now);
        if (attempt.lane() == 0) {
            retryOrFail(task, attempt, error);
        } else if (AttemptRows.live(sql, task.id()).isEmpty()) {
            int first = attempt.number() - attempt.lane() + 1;
            var round = AttemptRows.list(sql, task.id()).stream()
                    .filter(other -> other.number() >= first)
                    .toList();
            retryOrFail(task, attempt, RetryPolicy.error(round));
        }
    }

    /// Decides about a task whose last attempt, or the last attempts of a race, failed.
    private void retryOrFail(State task, AttemptRows.Live attempt, TaskError error) throws SQLException {
        int failures = AttemptRows.failures(sql, task.id(), task.firstAttempt()) / task.lanes();
        int countSimilar = AttemptRows.countSimilar(sql, task.id(), task.firstAttempt(), error) / task.lanes();
        int max = RetryPolicy.maxFailures(error, task.maxRetries());
        boolean isRetried = max > 0 && failures <= task.maxRetries() && countSimilar <= max;
        if (isRetried && error.code().equals(RetryPolicy.LEASE_LAPSED)) {
            ready(task, Detail.of(attempt, error));
        } else if (isRetried) {
            Instant next = now.plus(policy.pause(failures));
            move(task, Status.RETRYING, Detail.of(attempt, error).until(next));
            QueueRows.retryAt(sql, task.id(), next);
        } else {
            move(task, Status.FAILED, Detail.of(attempt, error));
            block(task.with(Status.FAILED));
        }
    }

    /// Fails a task that was in the queue for too long.
    void queuedTooLong(State task) throws SQLException {
        move(task, Status.FAILED, Detail.because("no attempt started within its queue timeout"));
        block(task.with(Status.FAILED));
    }

    /// Cancels a task, and asks its live attempt to stop. The attempt of a worker outside of the server ends at
    /// once.
    void cancel(State task, String reason, Dependents dependents) throws SQLException {
        cancelAlone(task, reason);
        switch (dependents) {
            case CANCEL -> {
                for (State other : downstream(task)) {
                    if (Transitions.isOpen(other.status())) {
                        cancelAlone(other, because(task.with(Status.CANCELLED)));
                    }
                }
            }
            case KEEP -> block(task.with(Status.CANCELLED));
        }
    }

    private void cancelAlone(State task, String reason) throws SQLException {
        move(task, Status.CANCELLED, Detail.because(reason));
        for (AttemptRows.Live attempt : AttemptRows.live(sql, task.id())) {
            if (attempt.run().isEmpty()) {
                cancelled(attempt, AttemptRows.CANCELLED, reason);
            } else {
                AttemptRows.stop(sql, attempt, AttemptRows.CANCELLED);
            }
        }
    }

    /// Blocks the pending tasks that depend on a lost task, directly or not.
    private void block(State lost) throws SQLException {
        QueueRows.undiagnosed(sql, lost.id());
        var cause = new ArrayDeque<State>(List.of(lost));
        for (State next = cause.poll(); next != null; next = cause.poll()) {
            for (State dependent : QueueRows.dependents(sql, next.id())) {
                if (dependent.status() == Status.PENDING) {
                    move(dependent, Status.BLOCKED, Detail.because(because(next)));
                    cause.add(dependent.with(Status.BLOCKED));
                }
            }
        }
    }

    /// Returns all tasks that depend on a task, directly or not.
    private List<State> downstream(State task) throws SQLException {
        var found = new LinkedHashMap<TaskId, State>();
        var open = new ArrayDeque<State>(List.of(task));
        for (State next = open.poll(); next != null; next = open.poll()) {
            for (State dependent : QueueRows.dependents(sql, next.id())) {
                if (found.putIfAbsent(dependent.id(), dependent) == null) {
                    open.add(dependent);
                }
            }
        }
        return List.copyOf(found.values());
    }

    /// Starts a failed or cancelled task again. Tasks that it blocked wait for it again.
    void retried(State task) throws SQLException {
        QueueRows.firstAttempt(sql, task.id(), AttemptRows.next(sql, task.id()));
        DiskRows.want(sql, task.id());
        move(task, Status.PENDING, Detail.because("retried by request"));
        settle(task.with(Status.PENDING));
        unblock(task);
    }

    /// Moves the blocked tasks that depend on a task back to pending, unless they depend on another lost task.
    private void unblock(State task) throws SQLException {
        var open = new ArrayDeque<State>(QueueRows.dependents(sql, task.id()));
        for (State next = open.poll(); next != null; next = open.poll()) {
            State current = QueueRows.state(sql, next.id()).orElseThrow();
            boolean isLost = QueueRows.dependencies(sql, current.id()).stream()
                    .anyMatch(other -> Transitions.isLost(other.status()));
            if (current.status() == Status.BLOCKED && !isLost) {
                move(current, Status.PENDING, Detail.because(task.id() + " is retried"));
                open.addAll(QueueRows.dependents(sql, current.id()));
            }
        }
    }

    private void move(State task, Status to, Detail detail) throws SQLException {
        if (!Transitions.isAllowed(task.status(), to)) {
            throw new IllegalStateException("task " + task.id() + " cannot change from " + task.status() + " to " + to);
        }
        long change = QueueRows.move(sql, task, to, detail.reason, now);
        if (change == 0) {
            throw new IllegalStateException("task " + task.id() + " is no longer " + task.status());
        }
        publish(task.with(to), change, detail);
    }

    /// The id is derived from the number of the change, so that the log contains the event once.
    private void publish(State task, long change, Detail detail) throws SQLException {
        var body = new TaskEvent.Changed(
                task.id(),
                task.status(),
                task.title(),
                detail.attempt.map(AttemptRows.Live::number),
                detail.attempt.flatMap(AttemptRows.Live::run),
                detail.reason,
                detail.errorClass,
                detail.nextAttemptAt);
        put(task.owner(), task.id() + "." + change, body);
    }

    /// Stores that a graph of tasks is stuck.
    void stuck(UserId owner, String state, TaskEvent.Stuck body) throws SQLException {
        put(owner, "stuck." + state, body);
    }

    private void put(UserId owner, String id, TaskEvent body) throws SQLException {
        var event = new NewEvent(Optional.of(NewEvent.OUR_IDS + id), body, NewEvent.OURS);
        events.add(outbox.put(sql, new TaskLog(owner), event));
    }
}
