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
        } else if (dependencies.stream().allMatch(other -> other.status() == Status.COMPLETED)) {
            ready(task, Detail.NONE);
        }
    }

    private static String because(State lost) {
        return "depends on " + lost.id() + " (" + lost.title() + "), which is "
                + lost.status().text();
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
        AttemptRows.running(sql, attempt);
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
        State running = task;
        if (task.status() == Status.ASSIGNED) {
            // The run ended before its start was noticed.
            move(task, Status.RUNNING, Detail.of(attempt));
            running = task.with(Status.RUNNING);
        }
        move(running, Status.COMPLETED, Detail.of(attempt));
        for (State dependent : QueueRows.dependents(sql, task.id())) {
            if (dependent.status() == Status.PENDING) {
                settle(dependent);
            }
        }
    }

    /// Ends an attempt that was cancelled with its task.
    void cancelled(AttemptRows.Live attempt, String reason) throws SQLException {
        var error = new TaskError(TaskError.Kind.PERMANENT, "cancelled", reason);
        AttemptRows.end(sql, attempt, TaskAttempt.Status.CANCELLED, Optional.of(error), now);
    }

    /// Ends an attempt with an error. The task is retried, if the class of the error and the task permit it.
    void failed(State task, AttemptRows.Live attempt, TaskError why) throws SQLException {
        var error = new TaskError(why.kind(), why.code(), TextLimits.kept(why.message()));
        boolean isLapsed = error.code().equals(RetryPolicy.LEASE_LAPSED);
        int failures = AttemptRows.failures(sql, task.id(), task.firstAttempt());
        boolean isRetried = failures < task.maxRetries()
                && AttemptRows.alike(sql, task.id(), task.firstAttempt(), error)
                        < RetryPolicy.most(error, task.maxRetries());
        AttemptRows.end(
                sql,
                attempt,
                isLapsed ? TaskAttempt.Status.LAPSED : TaskAttempt.Status.FAILED,
                Optional.of(error),
                now);
        if (isRetried && isLapsed) {
            ready(task, Detail.of(attempt, error));
        } else if (isRetried) {
            Instant next = now.plus(policy.pause(failures + 1));
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
        Optional<AttemptRows.Live> attempt = AttemptRows.live(sql, task.id());
        move(task, Status.CANCELLED, Detail.because(reason));
        if (attempt.isPresent() && attempt.get().run().isEmpty()) {
            cancelled(attempt.get(), reason);
        } else if (attempt.isPresent()) {
            AttemptRows.stop(sql, attempt.get(), "cancelled");
        }
    }

    /// Blocks the pending tasks that depend on a lost task, directly or not.
    private void block(State lost) throws SQLException {
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
        String id = NewEvent.OUR_IDS + task.id() + "." + change;
        events.add(outbox.put(sql, new TaskLog(task.owner()), new NewEvent(Optional.of(id), body, NewEvent.OURS)));
    }
}
