package dev.vivarium.core.task;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SealedEnv;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.QueueRows.State;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.Task.Status;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSchedule;
import dev.vivarium.model.UserId;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/// Queue of tasks with dependencies. Every change is stored before the server acts on it, and is an event in the log of
/// the tasks of the owner. Thread-safe.
public final class TaskQueue {
    /// A priority counts as much as this time in the queue.
    public static final Duration AGEING = Duration.ofMinutes(10);

    private static final int MAX_IN_GRAPH = 2 * TaskGraph.MAX_TASKS;

    private final Db db;
    private final Outbox outbox;
    private final ClockJumps clock;
    private final RetryPolicy policy;
    private final QueueRows rows;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final SecureRandom ids = new SecureRandom();

    /// @param random jitter of the pauses before retries
    public TaskQueue(Db db, Outbox outbox, ClockJumps clock, RandomGenerator random) {
        this.db = db;
        this.outbox = outbox;
        this.clock = clock;
        this.policy = RetryPolicy.standard(random);
        this.rows = new QueueRows(SealedEnv.of(db));
    }

    /// Registers a listener that is called after each change. It must return at once.
    void onChange(Runnable listener) {
        listeners.add(listener);
    }

    QueueRows rows() {
        return rows;
    }

    Db db() {
        return db;
    }

    Instant now() {
        return clock.now();
    }

    ClockJumps clock() {
        return clock;
    }

    /// Returns the changes of a transaction.
    TaskChanges changes(Sql sql) {
        return new TaskChanges(sql, outbox, policy, now());
    }

    /// Publishes the events of committed changes.
    void publish(List<Outbox.PendingEvent> events) {
        if (!events.isEmpty()) {
            outbox.sendAll(events);
            listeners.forEach(Runnable::run);
        }
    }

    /// A change of tasks in a transaction.
    @FunctionalInterface
    interface Change {
        void apply(Sql sql, TaskChanges changes) throws SQLException;
    }

    private void change(Change change) {
        publish(db.write(sql -> {
            var changes = changes(sql);
            change.apply(sql, changes);
            return changes.events();
        }));
    }

    /// Adds tasks, all or none, and returns their ids in the same order. Fails with `InvalidRequest` if a
    /// dependency is unknown, belongs to another user, or is part of a cycle.
    public List<TaskId> add(UserId owner, List<NewQueuedTask> tasks) {
        List<TaskId> made = tasks.stream().map(_ -> TaskId.random(ids)).toList();
        var graph = TaskGraph.of(tasks, made);
        change((sql, changes) -> add(sql, changes, owner, graph));
        return made;
    }

    private void add(Sql sql, TaskChanges changes, UserId owner, TaskGraph graph) throws SQLException {
        List<TaskId> made = graph.ids();
        for (int i = 0; i < made.size(); i++) {
            requireKnown(sql, owner, graph, i);
            NewQueuedTask task = graph.tasks().get(i);
            rows.insert(sql, Tasks.fresh(made.get(i), owner, task.task(), now()), plan(sql, graph, i));
        }
        for (int i = 0; i < made.size(); i++) {
            QueueRows.depend(sql, made.get(i), graph.dependencies(i));
        }
        for (TaskId id : made) {
            changes.added(QueueRows.state(sql, id).orElseThrow());
        }
    }

    /// Adds a task without dependencies in the transaction of the caller.
    TaskId add(Sql sql, TaskChanges changes, UserId owner, NewQueuedTask task) throws SQLException {
        TaskId id = TaskId.random(ids);
        add(sql, changes, owner, TaskGraph.of(List.of(task), List.of(id)));
        return id;
    }

    /// Returns the plan of a new task with the id of the task that it inherits from.
    private TaskPlan plan(Sql sql, TaskGraph graph, int index) throws SQLException {
        TaskPlan plan = graph.tasks().get(index).plan();
        if (plan.inherit().isEmpty()) {
            return plan;
        }
        Inherit inherit = plan.inherit().get();
        Optional<Integer> sibling = graph.sibling(inherit.from());
        TaskPlan parent = sibling.isPresent()
                ? graph.tasks().get(sibling.get()).plan()
                : rows.find(sql, new TaskId(inherit.from())).orElseThrow().plan();
        graph.requireHeritable(index, parent);
        return plan.with(inherit.withFrom(graph.idOf(inherit.from())));
    }

    private static void requireKnown(Sql sql, UserId owner, TaskGraph graph, int index) throws SQLException {
        for (TaskId target : graph.external().get(index)) {
            Failure.InvalidRequest.require(
                    QueueRows.state(sql, target)
                            .filter(other -> other.owner().equals(owner))
                            .isPresent(),
                    graph.field(index),
                    TaskGraph.unknown(target.value()));
        }
    }

    public Optional<QueuedTask> find(TaskId id) {
        return db.read(sql -> find(sql, id));
    }

    private Optional<QueuedTask> find(Sql sql, TaskId id) throws SQLException {
        Optional<QueueRows.Row> row = rows.find(sql, id);
        return row.isEmpty() ? Optional.empty() : Optional.of(whole(sql, row.get()));
    }

    private static QueuedTask whole(Sql sql, QueueRows.Row row) throws SQLException {
        TaskId id = row.task().id();
        return new QueuedTask(
                row.task(), row.plan(), QueueRows.dependsOn(sql, id), AttemptRows.list(sql, id), row.nextAttemptAt());
    }

    /// Returns the task with an id from a request, if its owner is one of `mine`. Fails with `no-such-task`.
    public QueuedTask require(String id, Predicate<UserId> mine) {
        return Optional.of(id)
                .filter(TaskId::isWellFormed)
                .flatMap(text -> find(new TaskId(text)))
                .filter(task -> mine.test(task.task().owner()))
                .orElseThrow(() -> new SandboxException(
                        new RunFailure.NoSuchTask(id.length() <= 64 ? id : id.substring(0, 64) + "…")));
    }

    public List<QueuedTask> list(TaskFilter filter) {
        return db.read(sql -> {
            var tasks = new ArrayList<QueuedTask>();
            for (QueueRows.Row row : rows.list(sql, filter)) {
                tasks.add(whole(sql, row));
            }
            return tasks;
        });
    }

    /// Returns the tasks that a task depends on or that depend on it, directly or not, oldest first.
    public List<QueuedTask> graph(TaskId id) {
        return db.read(sql -> {
            Set<TaskId> found = new LinkedHashSet<>(List.of(id));
            var open = new ArrayList<TaskId>(List.of(id));
            while (!open.isEmpty() && found.size() < MAX_IN_GRAPH) {
                TaskId next = open.removeLast();
                for (State other : neighbours(sql, next)) {
                    if (found.add(other.id())) {
                        open.add(other.id());
                    }
                }
            }
            var tasks = new ArrayList<QueuedTask>();
            for (TaskId one : found) {
                find(sql, one).ifPresent(tasks::add);
            }
            tasks.sort(TaskFilter.ORDER);
            return tasks;
        });
    }

    /// Returns the tasks that a task depends on, and those that depend on it.
    static List<State> neighbours(Sql sql, TaskId id) throws SQLException {
        var all = new ArrayList<>(QueueRows.dependencies(sql, id));
        all.addAll(QueueRows.dependents(sql, id));
        return all;
    }

    /// Returns the time limit of each attempt at a task, in the transaction of the caller. Empty for a task that is
    /// not in the queue.
    public static Optional<Duration> runTimeout(Sql sql, TaskId id) throws SQLException {
        return sql.first(
                "select run_timeout_ms from task_queue where task_id = ?",
                row -> Duration.ofMillis(row.getLong(1)),
                id.value());
    }

    /// Returns the tasks that a task depends on, with their results. Empty for a task that is not in the queue.
    public List<Task> dependencies(TaskId id) {
        return db.read(sql -> QueueRows.results(sql, id));
    }

    /// Fields of a task that can change while it waits. Immutable.
    public record Edit(
            Optional<String> title,
            Optional<String> description,
            Optional<TaskPriority> priority,
            Optional<Duration> runTimeout,
            Optional<Duration> queueTimeout,
            Optional<Integer> maxRetries) {}

    /// Changes a task that no attempt has started yet. Fails with `task-in-state`.
    public QueuedTask edit(TaskId id, Edit edit) {
        return db.write(sql -> {
            QueueRows.Row row = rows.find(sql, id).orElseThrow();
            Status status = row.task().status();
            if (status != Status.PENDING && status != Status.READY && status != Status.BLOCKED) {
                throw inState(id, status, "only a pending, ready or blocked task can be changed");
            }
            TaskPlan plan = row.plan();
            NewTask task = row.task().wanted();
            TaskSchedule schedule = plan.schedule();
            plan = plan.with(new TaskSchedule(
                    edit.priority.orElse(schedule.priority()),
                    schedule.agentType(),
                    edit.runTimeout.orElse(schedule.runTimeout()),
                    edit.queueTimeout.or(schedule::queueTimeout),
                    edit.maxRetries.orElse(schedule.maxRetries())));
            task = new NewTask(
                    edit.title.orElse(task.title()),
                    edit.description.orElse(task.description()),
                    task.type(),
                    Optional.of(plan.schedule().priority().text()),
                    task.context(),
                    task.constraints());
            rows.change(sql, id, plan);
            QueueRows.describe(
                    sql, id, task.title(), task.description(), plan.schedule().priority());
            return find(sql, id).orElseThrow();
        });
    }

    /// Cancels a task. The orchestrator stops its run. Fails with `task-in-state` if the task has ended.
    public QueuedTask cancel(TaskId id, String reason, Dependents dependents) {
        change((sql, changes) -> {
            State task = QueueRows.state(sql, id).orElseThrow();
            if (!Transitions.isOpen(task.status())) {
                throw inState(id, task.status(), "only a task that has not ended can be cancelled");
            }
            changes.cancel(task, reason, dependents);
        });
        return find(id).orElseThrow();
    }

    /// Starts a failed or cancelled task again, with new retries. Fails with `task-in-state`.
    public QueuedTask retry(TaskId id) {
        change((sql, changes) -> {
            State task = QueueRows.state(sql, id).orElseThrow();
            if (task.status() != Status.FAILED && task.status() != Status.CANCELLED) {
                throw inState(id, task.status(), "only a failed or cancelled task can be retried");
            }
            if (!AttemptRows.live(sql, id).isEmpty()) {
                throw inState(id, task.status(), "its last attempt has not ended yet; retry it in a moment");
            }
            changes.retried(task);
        });
        return find(id).orElseThrow();
    }

    private static SandboxException inState(TaskId id, Status status, String rule) {
        return new SandboxException(new RunFailure.TaskInState(id, status, rule));
    }
}
