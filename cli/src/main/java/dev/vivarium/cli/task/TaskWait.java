package dev.vivarium.cli.task;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.sdk.Tasks;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;

/// Wait until no task of a set can change by itself. Survives restarts of the server. Confined to one thread.
public final class TaskWait {
    private static final Set<Task.Status> SETTLED =
            EnumSet.of(Task.Status.COMPLETED, Task.Status.FAILED, Task.Status.CANCELLED, Task.Status.BLOCKED);

    private static final Duration PAUSE = Duration.ofMillis(500);
    /// The pause is so many times longer than the requests before it, so that the wait costs the server little.
    private static final int SHARE = 10;

    private static final int FEW = 20;
    private static final int PAGE = 1000;
    private static final int MAX_PAGES = 5;
    private static final int MAX_FAILURES = 600;

    private final Tasks tasks;
    private final Listener listener;
    private final Map<TaskId, TaskRecord> known = new HashMap<>();
    private int failures;

    /// Receives the changes of tasks.
    public interface Listener {
        void changed(TaskRecord task);

        void unreachable(Failure failure);
    }

    public TaskWait(Tasks tasks, Listener listener) {
        this.tasks = tasks;
        this.listener = listener;
    }

    /// Returns the tasks in their last state, in the same order. Completed, failed and cancelled tasks have ended.
    /// Blocked tasks depend on one that failed or was cancelled.
    public List<TaskRecord> await(Collection<TaskId> ids) {
        while (true) {
            long start = System.nanoTime();
            attempt(ids);
            if (ids.stream().allMatch(id -> has(id, SETTLED))) {
                return ids.stream().map(known::get).toList();
            }
            pause(Duration.ofNanos((System.nanoTime() - start) * SHARE));
        }
    }

    private boolean has(TaskId id, Set<Task.Status> statuses) {
        TaskRecord task = known.get(id);
        return task != null && statuses.contains(task.status());
    }

    /// Reads all tasks that can still change. A client can retry a failed task.
    private void attempt(Collection<TaskId> ids) {
        Set<TaskId> wanted = new HashSet<>(ids);
        wanted.removeIf(id -> has(id, EnumSet.of(Task.Status.COMPLETED)));
        try {
            read(wanted);
            failures = 0;
        } catch (SandboxException e) {
            if (!isTransient(e.failure()) || ++failures > MAX_FAILURES) {
                throw e;
            }
            if (failures == 1) {
                listener.unreachable(e.failure());
            }
        }
    }

    private static boolean isTransient(Failure failure) {
        return failure instanceof Failure.ServerUnreachable
                || failure instanceof Failure.ShuttingDown
                || failure instanceof Failure.OfCapacity;
    }

    /// Reads few tasks one by one, and many from the list, where new tasks are at the beginning.
    private void read(Set<TaskId> wanted) {
        if (wanted.size() > FEW) {
            readPages(wanted);
        }
        wanted.forEach(id -> accept(tasks.get(id.value())));
    }

    private void readPages(Set<TaskId> wanted) {
        var filter = Tasks.Filter.newest(PAGE);
        Optional<Tasks.Page> page = Optional.of(tasks.list(filter));
        for (int i = 0; i < MAX_PAGES && page.isPresent(); i++) {
            page.get().tasks().stream().filter(task -> wanted.remove(task.id())).forEach(this::accept);
            page = page.get().next().filter(_ -> !wanted.isEmpty()).map(next -> tasks.list(filter.from(next)));
        }
    }

    private void accept(TaskRecord task) {
        TaskRecord before = known.put(task.id(), task);
        if (before == null || before.status() != task.status()) {
            listener.changed(task);
        }
    }

    private static void pause(Duration wanted) {
        try {
            Thread.sleep(wanted.compareTo(PAUSE) > 0 ? wanted : PAUSE);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while waiting for tasks");
        }
    }
}
