package dev.vivarium.core.task;

import dev.vivarium.core.run.Money;
import dev.vivarium.core.run.TaskRows;
import dev.vivarium.core.run.TextListColumn;
import dev.vivarium.core.store.SealedEnv;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Egress;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.Limits;
import dev.vivarium.model.Race;
import dev.vivarium.model.Run;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.TaskSchedule;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Rows of the queue and of the dependencies between its tasks. Thread-safe; each method runs in the transaction of the
/// caller.
final class QueueRows {
    private static final String JOINED = " from task_queue q join sandbox_tasks t on t.task_id = q.task_id";
    private static final String STATE =
            "select q.task_id, q.user_id, t.status, t.title, q.max_retries, q.first_attempt, q.race_attempts" + JOINED;

    private final SealedEnv env;

    QueueRows(SealedEnv env) {
        this.env = env;
    }

    /// The part of a task that its changes depend on.
    ///
    /// @param lanes number of attempts that run at the same time
    record State(
            TaskId id, UserId owner, Task.Status status, String title, int maxRetries, int firstAttempt, int lanes) {
        State with(Task.Status other) {
            return new State(id, owner, other, title, maxRetries, firstAttempt, lanes);
        }
    }

    /// A task and its plan.
    record Row(Task task, TaskPlan plan, Optional<Instant> nextAttemptAt) {}

    void insert(Sql sql, Task task, TaskPlan plan) throws SQLException {
        TaskRows.insert(sql, task);
        sql.update(
                "insert into task_queue (task_id, user_id, agent_type, runtime, command, model, env, memory_bytes, cpus,"
                        + " processes, disk_bytes, egress, image, budget_nanos, run_timeout_ms, queue_timeout_ms,"
                        + " max_retries, priority_rank, guardian, first_attempt, changes)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0)",
                task.id().value(),
                task.owner().value(),
                plan.schedule().agentType().orElse(""),
                plan.program().map(program -> program.runtime().text()).orElse(null),
                TextListColumn.encode(plan.program().map(Run.Program::command).orElse(List.of())),
                plan.program().flatMap(Run.Program::model).orElse(null),
                env.seal(task.id().value(), plan.sandbox().env()),
                plan.sandbox().limits().map(Limits::memoryBytes).orElse(null),
                plan.sandbox().limits().map(Limits::cpus).orElse(null),
                plan.sandbox().limits().map(Limits::processes).orElse(null),
                plan.sandbox().limits().map(Limits::diskBytes).orElse(null),
                plan.sandbox()
                        .egress()
                        .map(egress -> String.join("\n", egress.texts()))
                        .orElse(null),
                plan.sandbox().image().orElse(null),
                plan.budgetUsd().map(Money::nanos).orElse(null),
                plan.schedule().runTimeout().toMillis(),
                plan.schedule().queueTimeout().map(Duration::toMillis).orElse(null),
                plan.schedule().maxRetries(),
                plan.schedule().priority().ordinal(),
                plan.guardian().map(GuardianPolicy::text).orElse(null));
        if (plan.repository().isPresent()) {
            RepositoryColumns.write(sql, task.id(), plan.repository().get());
        }
        start(sql, task.id(), plan);
    }

    private static void start(Sql sql, TaskId id, TaskPlan plan) throws SQLException {
        if (plan.inherit().isPresent()) {
            inherit(sql, id, plan.inherit().get());
        }
        if (plan.race().isPresent()) {
            race(sql, id, plan.race().get());
        }
    }

    private static void inherit(Sql sql, TaskId id, Inherit inherit) throws SQLException {
        sql.update(
                "update task_queue set inherit_from = ?, inherit_files = ?, inherit_conversation = ? where task_id = ?",
                inherit.from(),
                inherit.files() ? 1 : 0,
                inherit.conversation() ? 1 : 0,
                id.value());
        DiskRows.want(sql, id);
    }

    private static void race(Sql sql, TaskId id, Race race) throws SQLException {
        sql.update(
                "update task_queue set race_attempts = ?, race_check = ? where task_id = ?",
                race.attempts(),
                TextListColumn.encode(race.check()),
                id.value());
    }

    static void depend(Sql sql, TaskId task, List<TaskId> targets) throws SQLException {
        sql.updateAll(
                "insert into task_dependencies (task_id, depends_on) values (?, ?)",
                targets.stream()
                        .map(target -> List.<Object>of(task.value(), target.value()))
                        .toList());
    }

    Optional<Row> find(Sql sql, TaskId id) throws SQLException {
        return sql.first("select *" + JOINED + " where q.task_id = ?", this::row, id.value());
    }

    List<Row> list(Sql sql, TaskFilter filter) throws SQLException {
        var where = new StringBuilder(" where 1 = 1");
        var values = new ArrayList<Object>();
        filter.owner().ifPresent(owner -> {
            where.append(" and t.user_id = ?");
            values.add(owner.value());
        });
        filter.status().ifPresent(status -> {
            where.append(" and t.status = ?");
            values.add(status.text());
        });
        filter.agentType().ifPresent(type -> {
            where.append(" and q.agent_type = ?");
            values.add(type);
        });
        filter.before().ifPresent(place -> {
            where.append(" and (t.created_at < ? or t.created_at = ? and t.task_id < ?)");
            values.addAll(List.of(place.millis(), place.millis(), place.id()));
        });
        values.add(filter.limit());
        return sql.list(
                "select *" + JOINED + where + " order by t.created_at desc, t.task_id desc limit ?",
                this::row,
                values.toArray());
    }

    static Optional<State> state(Sql sql, TaskId id) throws SQLException {
        return sql.first(STATE + " where q.task_id = ?", QueueRows::state, id.value());
    }

    /// Returns the tasks that depend on a task.
    static List<State> dependents(Sql sql, TaskId id) throws SQLException {
        return sql.list(
                STATE + " join task_dependencies d on d.task_id = q.task_id where d.depends_on = ?",
                QueueRows::state,
                id.value());
    }

    /// Returns the tasks that a task depends on.
    static List<State> dependencies(Sql sql, TaskId id) throws SQLException {
        return sql.list(
                STATE + " join task_dependencies d on d.depends_on = q.task_id where d.task_id = ?",
                QueueRows::state,
                id.value());
    }

    static List<TaskId> dependsOn(Sql sql, TaskId id) throws SQLException {
        return sql.list(
                "select depends_on from task_dependencies where task_id = ? order by depends_on",
                row -> new TaskId(row.getString(1)),
                id.value());
    }

    /// Returns the ids and results of the tasks that a task depends on.
    static List<Task> results(Sql sql, TaskId id) throws SQLException {
        return sql.list(
                "select t.* from task_dependencies d join sandbox_tasks t on t.task_id = d.depends_on"
                        + " where d.task_id = ? order by t.created_at, t.task_id",
                TaskRows::read,
                id.value());
    }

    /// Changes the status of a task, and returns the number of the change. Returns zero if the task has another
    /// status.
    static long move(Sql sql, State task, Task.Status to, Optional<String> message, Instant now) throws SQLException {
        int rows = sql.update(
                "update sandbox_tasks set status = ?, message = ?, updated_at = ? where task_id = ? and status = ?",
                to.text(),
                message.orElse(null),
                now.toEpochMilli(),
                task.id().value(),
                task.status().text());
        if (rows == 0) {
            return 0;
        }
        sql.update(
                "update task_queue set changes = changes + 1, order_at = null, next_attempt_at = null where task_id = ?",
                task.id().value());
        return changes(sql, task.id());
    }

    /// Puts a task into the queue of ready tasks. A higher priority counts as a longer wait, so that no task
    /// starves.
    ///
    /// @param isReturned whether the task keeps its earlier place
    static void enqueue(Sql sql, TaskId id, Instant now, boolean isReturned) throws SQLException {
        sql.update(
                "update task_queue set ready_at = " + (isReturned ? "coalesce(ready_at, ?)" : "?")
                        + " where task_id = ?",
                now.toEpochMilli(),
                id.value());
        sql.update(
                "update task_queue set order_at = ready_at - priority_rank * ? where task_id = ?",
                TaskQueue.AGEING.toMillis(),
                id.value());
    }

    static void retryAt(Sql sql, TaskId id, Instant at) throws SQLException {
        sql.update("update task_queue set next_attempt_at = ? where task_id = ?", at.toEpochMilli(), id.value());
    }

    /// Counts the attempts for the limit of retries from this number on.
    static void firstAttempt(Sql sql, TaskId id, int attempt) throws SQLException {
        sql.update("update task_queue set first_attempt = ? where task_id = ?", attempt, id.value());
    }

    void change(Sql sql, TaskId id, TaskPlan plan) throws SQLException {
        sql.update(
                "update task_queue set run_timeout_ms = ?, queue_timeout_ms = ?, max_retries = ?, priority_rank = ?,"
                        + " order_at = case when order_at is null then null else ready_at - ? * ? end"
                        + " where task_id = ?",
                plan.schedule().runTimeout().toMillis(),
                plan.schedule().queueTimeout().map(Duration::toMillis).orElse(null),
                plan.schedule().maxRetries(),
                plan.schedule().priority().ordinal(),
                plan.schedule().priority().ordinal(),
                TaskQueue.AGEING.toMillis(),
                id.value());
    }

    static void describe(Sql sql, TaskId id, String title, String description, TaskPriority priority)
            throws SQLException {
        sql.update(
                "update sandbox_tasks set title = ?, description = ?, priority = ? where task_id = ?",
                title,
                description,
                priority.text(),
                id.value());
    }

    /// Marks the tasks that depend on a lost task. If they are blocked, the next diagnosis looks at them.
    static void undiagnosed(Sql sql, TaskId lost) throws SQLException {
        sql.update(
                "update task_queue set undiagnosed = 1"
                        + " where task_id in (select task_id from task_dependencies where depends_on = ?)",
                lost.value());
    }

    static void diagnosed(Sql sql, Collection<TaskId> tasks) throws SQLException {
        sql.updateAll(
                "update task_queue set undiagnosed = 0 where task_id = ?",
                tasks.stream().map(task -> List.<Object>of(task.value())).toList());
    }

    static List<State> undiagnosed(Sql sql, int limit) throws SQLException {
        return sql.list(
                STATE + " where q.undiagnosed = 1 and t.status = 'blocked' order by q.task_id limit ?",
                QueueRows::state,
                limit);
    }

    static long changes(Sql sql, TaskId id) throws SQLException {
        return sql.number("select changes from task_queue where task_id = ?", id.value());
    }

    /// Moves the times of waiting tasks after a jump of the clock.
    static void move(Sql sql, Duration jump) throws SQLException {
        long millis = jump.toMillis();
        sql.update(
                "update task_queue set next_attempt_at = next_attempt_at + ? where next_attempt_at is not null",
                millis);
        sql.update(
                "update task_queue set ready_at = ready_at + ?, order_at = order_at + ? where order_at is not null",
                millis,
                millis);
    }

    static List<State> dueRetries(Sql sql, Instant now) throws SQLException {
        return sql.list(STATE + " where q.next_attempt_at <= ?", QueueRows::state, now.toEpochMilli());
    }

    static List<State> queuedTooLong(Sql sql, Instant now) throws SQLException {
        return sql.list(
                STATE + " where q.order_at is not null and q.ready_at + q.queue_timeout_ms <= ?",
                QueueRows::state,
                now.toEpochMilli());
    }

    /// Returns the next ready tasks for the orchestrator, except those of saturated users and types.
    List<Row> ready(Sql sql, Set<UserId> users, Set<String> types, int limit) throws SQLException {
        var values = new ArrayList<Object>();
        users.forEach(user -> values.add(user.value()));
        values.addAll(types);
        values.add(limit);
        return sql.list(
                "select *" + JOINED + " where q.order_at is not null and q.runtime is not null"
                        + notIn("q.user_id", users) + notIn("q.agent_type", types)
                        + " order by q.order_at, q.task_id limit ?",
                this::row,
                values.toArray());
    }

    private static String notIn(String column, Collection<?> values) {
        return values.isEmpty()
                ? ""
                : " and " + column + " not in (" + String.join(", ", Collections.nCopies(values.size(), "?")) + ")";
    }

    /// Returns the next ready task without a program, for a worker outside of the server.
    static Optional<State> claimable(Sql sql, Optional<UserId> owner, Optional<String> agentType) throws SQLException {
        var values = new ArrayList<Object>();
        owner.ifPresent(user -> values.add(user.value()));
        agentType.ifPresent(values::add);
        return sql.first(
                STATE + " where q.order_at is not null and q.runtime is null"
                        + (owner.isPresent() ? " and q.user_id = ?" : "")
                        + (agentType.isPresent() ? " and q.agent_type = ?" : "")
                        + " order by q.order_at, q.task_id limit 1",
                QueueRows::state,
                values.toArray());
    }

    /// Returns the time at which a retry or the timeout of a ready task is due.
    static Optional<Instant> nextDue(Sql sql) throws SQLException {
        long retry = sql.number("select min(next_attempt_at) from task_queue where next_attempt_at is not null");
        long timeout = sql.number("select min(ready_at + queue_timeout_ms) from task_queue where order_at is not null");
        long first = retry == 0 ? timeout : timeout == 0 ? retry : Math.min(retry, timeout);
        return first == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(first));
    }

    private static State state(ResultSet row) throws SQLException {
        return new State(
                new TaskId(row.getString(1)),
                new UserId(row.getString(2)),
                TextEnum.of(Task.Status.class, row.getString(3)),
                row.getString(4),
                row.getInt(5),
                row.getInt(6),
                Math.max(1, row.getInt(7)));
    }

    private Row row(ResultSet row) throws SQLException {
        Task task = TaskRows.read(row);
        return new Row(
                task, plan(task.id(), row), number(row, "next_attempt_at").map(Instant::ofEpochMilli));
    }

    private TaskPlan plan(TaskId id, ResultSet row) throws SQLException {
        String command = row.getString("command");
        Optional<String> model = Optional.ofNullable(row.getString("model"));
        return new TaskPlan(
                Optional.ofNullable(row.getString("runtime"))
                        .flatMap(text -> TextEnum.find(Run.Runtime.class, text))
                        .map(runtime -> new Run.Program(runtime, TextListColumn.decode(command), model)),
                new TaskSchedule(
                        TaskPriority.values()[row.getInt("priority_rank")],
                        Optional.of(row.getString("agent_type")).filter(type -> !type.isEmpty()),
                        Duration.ofMillis(row.getLong("run_timeout_ms")),
                        number(row, "queue_timeout_ms").map(Duration::ofMillis),
                        row.getInt("max_retries")),
                new TaskSandbox(
                        env.open(id.value(), row.getString("env")),
                        limits(row),
                        Optional.ofNullable(row.getString("egress"))
                                .map(text -> Egress.of("egress", text.lines().toList())),
                        Optional.ofNullable(row.getString("image"))),
                number(row, "budget_nanos").map(Money::dollars),
                Optional.ofNullable(row.getString("guardian"))
                        .flatMap(text -> TextEnum.find(GuardianPolicy.class, text)),
                RepositoryColumns.read(row),
                inherit(row),
                race(row));
    }

    private static Optional<Inherit> inherit(ResultSet row) throws SQLException {
        String from = row.getString("inherit_from");
        return from == null
                ? Optional.empty()
                : Optional.of(
                        new Inherit(from, row.getInt("inherit_files") == 1, row.getInt("inherit_conversation") == 1));
    }

    private static Optional<Race> race(ResultSet row) throws SQLException {
        int attempts = row.getInt("race_attempts");
        return attempts == 0
                ? Optional.empty()
                : Optional.of(new Race(attempts, TextListColumn.decode(row.getString("race_check"))));
    }

    private static Optional<Limits> limits(ResultSet row) throws SQLException {
        Optional<Long> memory = number(row, "memory_bytes");
        return memory.isEmpty()
                ? Optional.empty()
                : Optional.of(new Limits(
                        memory.get(), row.getDouble("cpus"), row.getInt("processes"), row.getLong("disk_bytes")));
    }

    static Optional<Long> number(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(value);
    }
}
