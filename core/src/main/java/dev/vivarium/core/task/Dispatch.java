package dev.vivarium.core.task;

import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.AttemptRows.Live;
import dev.vivarium.core.task.QueueRows.State;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.UserId;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// Transactions of the orchestrator. Each checks the lease of the orchestrator, so that a superseded server changes
/// nothing. Thread-safe.
final class Dispatch {
    private static final int BATCH = 64;

    private final TaskQueue queue;
    private final Runs runs;
    private final DutyLease lease;
    private final TaskLimits limits;
    private final Restarts restarts;
    private final SecureRandom random = new SecureRandom();

    Dispatch(TaskQueue queue, Runs runs, DutyLease lease, TaskLimits limits, Restarts restarts) {
        this.queue = queue;
        this.runs = runs;
        this.lease = lease;
        this.limits = limits;
        this.restarts = restarts;
    }

    /// An attempt whose run is to be started.
    record Job(QueueRows.Row row, Live attempt) {}

    /// A live attempt and its run, if the run has begun.
    record Current(Live attempt, Optional<Run> run) {}

    /// Reports whether this server is the orchestrator. Only the orchestrator moves deadlines if the clock jumps.
    boolean isHolder() {
        boolean isHolder = lease.hold();
        if (!isHolder) {
            queue.clock().apply(_ -> {});
        }
        return isHolder;
    }

    private void change(TaskQueue.Change change) {
        queue.publish(lease.write(sql -> {
            var changes = queue.changes(sql);
            change.apply(sql, changes);
            return changes.events();
        }));
    }

    /// Handles retries, timeouts and leases that are due. Returns the time of the next one.
    Optional<Instant> expire() {
        queue.clock()
                .apply(jump -> lease.write(sql -> {
                    QueueRows.move(sql, jump);
                    AttemptRows.move(sql, jump);
                    return jump;
                }));
        Optional<Instant> next = nextDue();
        Instant now = queue.now();
        if (next.isEmpty() || next.get().isAfter(now)) {
            return next;
        }
        change((sql, changes) -> {
            for (State task : QueueRows.dueRetries(sql, now)) {
                changes.due(task);
            }
            for (State task : QueueRows.queuedTooLong(sql, now)) {
                changes.queuedTooLong(task);
            }
            for (Live attempt : AttemptRows.lapsed(sql, now)) {
                changes.failed(task(sql, attempt), attempt, lapsed(attempt));
            }
            for (Live attempt : AttemptRows.tooLong(sql, now)) {
                tooLong(sql, changes, attempt);
            }
        });
        return nextDue();
    }

    private Optional<Instant> nextDue() {
        return queue.db()
                .read(sql -> Stream.of(QueueRows.nextDue(sql), AttemptRows.nextDue(sql))
                        .flatMap(Optional::stream)
                        .min(Instant::compareTo));
    }

    /// Stores that an attempt must stop. The attempt of a worker outside of the server ends at once.
    private static void tooLong(Sql sql, TaskChanges changes, Live attempt) throws SQLException {
        if (attempt.run().isPresent()) {
            AttemptRows.stop(sql, attempt, RetryPolicy.TIME_LIMIT);
        } else {
            changes.failed(task(sql, attempt), attempt, timeLimit());
        }
    }

    private static TaskError lapsed(Live attempt) {
        return new TaskError(
                TaskError.Kind.TRANSIENT,
                RetryPolicy.LEASE_LAPSED,
                "the worker " + attempt.worker().orElse("") + " did not renew its lease");
    }

    private static TaskError timeLimit() {
        return new TaskError(
                TaskError.Kind.UNKNOWN, RetryPolicy.TIME_LIMIT, "the attempt took longer than timeout_minutes");
    }

    private static State task(Sql sql, Live attempt) throws SQLException {
        return QueueRows.state(sql, attempt.task()).orElseThrow();
    }

    /// Stores attempts at the next ready tasks, within the limits. The caller starts their runs.
    List<Job> assign() {
        if (queue.db()
                .read(sql -> queue.rows().ready(sql, Set.of(), Set.of(), 1))
                .isEmpty()) {
            return List.of();
        }
        var jobs = new ArrayList<Job>();
        change((sql, changes) -> {
            jobs.clear();
            for (QueueRows.Row row : next(sql)) {
                State task = QueueRows.state(sql, row.task().id()).orElseThrow();
                List<Live> attempts = attempts(task, AttemptRows.next(sql, task.id()));
                for (Live attempt : attempts) {
                    AttemptRows.insert(sql, attempt);
                    AttemptRows.continueTime(sql, attempt);
                    jobs.add(new Job(row, attempt));
                }
                changes.assigned(task, attempts.getFirst());
            }
        });
        return jobs;
    }

    /// Returns the next attempt at a task, or all attempts of a race.
    private List<Live> attempts(State task, int first) {
        var attempts = new ArrayList<Live>();
        for (int i = 0; i < task.lanes(); i++) {
            attempts.add(new Live(
                    task.id(),
                    first + i,
                    lease.fencing(),
                    Optional.of(RunId.random(random)),
                    Optional.empty(),
                    TaskAttempt.Status.ASSIGNED,
                    Optional.empty(),
                    queue.now(),
                    Optional.empty(),
                    task.lanes() == 1 ? 0 : i + 1));
        }
        return attempts;
    }

    /// Returns the next ready tasks that fit into the limits, in their order. Each query excludes the users and
    /// types that have reached their limit, so that their tasks hide no others.
    private List<QueueRows.Row> next(Sql sql) throws SQLException {
        var users = new HashMap<>(AttemptRows.runningByUser(sql));
        var types = new HashMap<>(AttemptRows.runningByType(sql));
        int running = users.values().stream().mapToInt(Integer::intValue).sum();
        int room = limits.all() == 0 ? BATCH : Math.min(BATCH, limits.all() - running);
        var chosen = new ArrayList<QueueRows.Row>();
        var seen = new HashSet<>();
        boolean isSearching = true;
        while (isSearching && chosen.size() < room) {
            isSearching = false;
            Set<UserId> fullUsers = full(users, limits.perUser());
            Set<String> fullTypes = full(types, limits.perAgentType());
            for (QueueRows.Row row : queue.rows().ready(sql, fullUsers, fullTypes, room + chosen.size())) {
                String type = row.plan().schedule().agentType().orElse("");
                boolean isFree = hasRoom(users, row.task().owner(), limits.perUser())
                        && (type.isEmpty() || hasRoom(types, type, limits.perAgentType()));
                if (!isFree) {
                    isSearching = true;
                } else if (chosen.size() < room && seen.add(row.task().id())) {
                    chosen.add(row);
                    users.merge(row.task().owner(), 1, Integer::sum);
                    types.merge(type, 1, Integer::sum);
                }
            }
        }
        return chosen;
    }

    private static <K> Set<K> full(Map<K, Integer> running, int limit) {
        var full = new HashSet<K>();
        running.forEach((key, count) -> {
            if (limit > 0 && count >= limit && !key.equals("")) {
                full.add(key);
            }
        });
        return full;
    }

    private static <K> boolean hasRoom(Map<K, Integer> running, K key, int limit) {
        return limit == 0 || running.getOrDefault(key, 0) < limit;
    }

    /// Returns the live attempts of the orchestrator.
    List<Current> current() {
        return queue.db().read(sql -> {
            var all = new ArrayList<Current>();
            for (Live attempt : AttemptRows.live(sql)) {
                all.add(new Current(attempt, runs.find(sql, attempt.run().orElseThrow())));
            }
            return all;
        });
    }

    /// Returns the run that an attempt continues, if its worker ended abnormally.
    Optional<Run> continued(Live attempt) {
        return queue.db().read(sql -> {
            Optional<RunId> run = AttemptRows.continued(sql, attempt);
            return run.isEmpty() ? Optional.empty() : runs.find(sql, run.get());
        });
    }

    /// Takes over an attempt of an earlier server whose run has not begun.
    Optional<Job> adopt(Live attempt) {
        return lease.write(sql -> {
            AttemptRows.adopt(sql, attempt, lease.fencing());
            Optional<QueueRows.Row> row = queue.rows().find(sql, attempt.task());
            Optional<Live> live = AttemptRows.live(sql, attempt.run().orElseThrow());
            return row.isPresent() && live.isPresent() ? Optional.of(new Job(row.get(), live.get())) : Optional.empty();
        });
    }

    /// Throws [AttemptOver] if the run of an attempt must not begin: another server is the orchestrator, or the
    /// attempt was stopped.
    void requireLive(Sql sql, Live attempt) throws SQLException {
        lease.check(sql);
        if (!AttemptRows.mayBegin(sql, attempt)) {
            throw new AttemptOver();
        }
    }

    /// The attempt ended before its run could begin. Immutable.
    static final class AttemptOver extends RuntimeException {
        private static final long serialVersionUID = 1;

        AttemptOver() {
            super("the attempt is over");
        }
    }

    /// Applies the state of a run to its attempt and task. Does nothing if the run is not an attempt.
    ///
    /// @return the events, to publish after the commit
    List<Outbox.PendingEvent> settle(Sql sql, Run run) throws SQLException {
        Optional<Live> found = AttemptRows.live(sql, run.id());
        if (found.isEmpty()) {
            return List.of();
        }
        lease.check(sql);
        Live attempt = found.get();
        var changes = queue.changes(sql);
        State task = task(sql, attempt);
        switch (run.status()) {
            case CREATING -> {}
            case RUNNING, PAUSED -> {
                if (attempt.status() == TaskAttempt.Status.ASSIGNED) {
                    changes.running(task, attempt);
                }
            }
            case COMPLETED, FAILED, TERMINATED -> ended(changes, task, attempt, restarts.judge(sql, run));
        }
        return changes.events();
    }

    private static void ended(TaskChanges changes, State task, Live attempt, Run run) throws SQLException {
        if (isGivenUp(task, attempt)) {
            changes.givenUp(attempt);
        } else if (run.status() == Run.Status.COMPLETED && attempt.lane() > 0) {
            changes.checking(task, attempt);
        } else if (run.status() == Run.Status.COMPLETED) {
            changes.completed(task, attempt);
        } else {
            boolean isTimeout =
                    attempt.stopCode().filter(RetryPolicy.TIME_LIMIT::equals).isPresent();
            changes.failed(task, attempt, isTimeout ? timeLimit() : RetryPolicy.error(run));
        }
    }

    private static boolean isGivenUp(State task, Live attempt) {
        return attempt.isGivenUp() || !Transitions.isOpen(task.status());
    }

    TaskPlan plan(Live attempt) {
        return queue.db()
                .read(sql -> queue.rows().find(sql, attempt.task()))
                .orElseThrow()
                .plan();
    }

    /// Applies the result of the check of an attempt of a race.
    ///
    /// @param error why the attempt did not pass
    void checked(Live attempt, Optional<TaskError> error) {
        change((sql, changes) -> {
            Optional<Live> live = AttemptRows.live(sql, attempt.run().orElseThrow());
            if (live.isEmpty()) {
                return;
            }
            State task = task(sql, attempt);
            if (isGivenUp(task, live.get())) {
                changes.givenUp(live.get());
            } else if (error.isPresent()) {
                changes.failed(task, live.get(), error.get());
            } else {
                changes.won(task, live.get());
            }
        });
    }

    /// Applies the state of a run in a transaction of its own.
    void settle(Run run) {
        queue.publish(queue.db().write(sql -> settle(sql, run)));
    }

    void publish(List<Outbox.PendingEvent> events) {
        queue.publish(events);
    }

    /// Ends an attempt whose run could not begin. If the server has no capacity, the task returns to the queue, and
    /// an attempt of a race waits.
    void notStarted(Live attempt, Optional<Failure> failure, String message) {
        change((sql, changes) -> {
            boolean hasBegun = runs.find(sql, attempt.run().orElseThrow()).isPresent();
            Optional<Live> live = AttemptRows.live(sql, attempt.run().orElseThrow())
                    .filter(now -> now.fencing() == attempt.fencing());
            if (hasBegun || live.isEmpty()) {
                return;
            }
            State task = task(sql, attempt);
            boolean isShortage = failure.filter(RetryPolicy::isShortage).isPresent();
            if (isGivenUp(task, live.get())) {
                changes.givenUp(live.get());
            } else if (isShortage && attempt.lane() > 0) {
                AttemptRows.waits(sql, attempt, queue.now());
            } else if (isShortage) {
                changes.released(task, attempt, message);
            } else {
                changes.failed(
                        task,
                        attempt,
                        failure.map(RetryPolicy::error)
                                .orElseGet(() ->
                                        new TaskError(TaskError.Kind.TRANSIENT, RetryPolicy.NOT_STARTED, message)));
            }
        });
    }

    /// An ended attempt whose sandbox exists.
    record Finished(SandboxId sandbox, Instant endedAt) {}

    /// Returns ended attempts whose sandboxes occupy the room that a run lacks, oldest first. A quota concerns only
    /// the sandboxes of the user.
    List<Finished> finished(Failure shortage, UserId user) {
        boolean isQuota = shortage instanceof SandboxFailure.QuotaExceeded;
        return queue.db().read(sql -> AttemptRows.finished(sql, isQuota ? Optional.of(user) : Optional.empty()));
    }

    Duration until(Instant at) {
        return Duration.between(queue.now(), at);
    }
}
