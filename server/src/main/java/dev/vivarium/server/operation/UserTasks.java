package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Snapshots;
import dev.vivarium.core.task.Dependents;
import dev.vivarium.core.task.TaskClaims;
import dev.vivarium.core.task.TaskFilter;
import dev.vivarium.core.task.TaskQueue;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskSandbox;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Operations on the tasks of the queue. A user sees and changes only own tasks; the tasks of others count as unknown.
/// Thread-safe.
public final class UserTasks {
    private final TaskQueue queue;
    private final TaskClaims claims;
    private final StartRun startRun;
    private final Snapshots snapshots;

    public UserTasks(TaskQueue queue, StartRun startRun, Snapshots snapshots) {
        this.queue = queue;
        this.claims = new TaskClaims(queue);
        this.startRun = startRun;
        this.snapshots = snapshots;
    }

    /// Adds tasks of one owner, all or none. Applies the rules for runs to each.
    public List<TaskId> add(Principal caller, UserId owner, List<NewQueuedTask> tasks) {
        CreateSandbox.requireMayActFor(caller, owner);
        return queue.add(
                owner, tasks.stream().map(task -> withCredential(owner, task)).toList());
    }

    private NewQueuedTask withCredential(UserId owner, NewQueuedTask task) {
        TaskPlan plan = task.plan();
        return new NewQueuedTask(
                task.name(),
                task.task(),
                plan.withRepository(startRun.accepted(owner, plan.repository())),
                task.dependsOn());
    }

    /// Fails with `InvalidRequest` if the server could not run the task, and with `Unsupported` if it inherits
    /// files and the provider does not support snapshots.
    public void check(UserId owner, TaskPlan plan) {
        plan.budgetUsd().ifPresent(StartRun::requireBudget);
        var sandbox = plan.sandbox().request(new ThreadKey(owner, new ThreadId("task")));
        plan.program().ifPresent(program -> startRun.check(program, sandbox));
        boolean isEmpty = plan.sandbox().equals(TaskSandbox.DEFAULT)
                && plan.budgetUsd().isEmpty()
                && plan.repository().isEmpty()
                && plan.inherit().isEmpty()
                && plan.race().isEmpty();
        require(
                plan.program().isPresent() || isEmpty,
                "runtime",
                "is required with env, limits, egress, image, budget_usd, repository, inherit or attempts");
        require(
                plan.race().isEmpty() || plan.repository().isEmpty(),
                "attempts",
                "must not be given with repository, because all attempts would push to one branch");
        if (plan.inherit().filter(Inherit::files).isPresent()) {
            snapshots.requireSupported();
        }
    }

    /// Returns the newest tasks of the caller, or of all users for the admin.
    public List<QueuedTask> list(Principal caller, TaskFilter filter) {
        return queue.list(
                new TaskFilter(caller.user(), filter.status(), filter.agentType(), filter.before(), filter.limit()));
    }

    public QueuedTask get(Principal caller, String id) {
        return queue.require(id, caller::mayActFor);
    }

    private TaskId idOf(Principal caller, String id) {
        return get(caller, id).task().id();
    }

    public QueuedTask edit(Principal caller, String id, TaskQueue.Edit edit) {
        return queue.edit(idOf(caller, id), edit);
    }

    public QueuedTask cancel(Principal caller, String id, Dependents dependents) {
        return queue.cancel(idOf(caller, id), "cancelled by " + caller.name(), dependents);
    }

    public QueuedTask retry(Principal caller, String id) {
        return queue.retry(idOf(caller, id));
    }

    public List<QueuedTask> graph(Principal caller, String id) {
        return queue.graph(idOf(caller, id));
    }

    /// Starts an attempt of a worker outside of the server at the next task of the caller.
    public Optional<QueuedTask> claim(Principal caller, String worker, Optional<String> agentType, Duration lease) {
        return claims.claim(new TaskClaims.Claim(worker, caller.user(), agentType, lease));
    }

    public QueuedTask heartbeat(Principal caller, String id, int attempt, Duration lease) {
        claims.heartbeat(idOf(caller, id), attempt, lease);
        return get(caller, id);
    }

    public QueuedTask complete(Principal caller, String id, int attempt, Optional<String> result) {
        claims.complete(idOf(caller, id), attempt, result);
        return get(caller, id);
    }

    public QueuedTask fail(Principal caller, String id, int attempt, TaskError error) {
        claims.fail(idOf(caller, id), attempt, error);
        return get(caller, id);
    }
}
