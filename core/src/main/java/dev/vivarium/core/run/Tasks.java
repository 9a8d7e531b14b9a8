package dev.vivarium.core.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/// Tasks of agents. Thread-safe.
public final class Tasks {
    private final Db db;
    private final InstantSource clock;

    public Tasks(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
    }

    public static Task fresh(TaskId id, UserId owner, NewTask wanted, Instant now) {
        return new Task(
                id, owner, wanted, Task.Status.PENDING, Optional.empty(), Optional.empty(), Optional.empty(), now, now);
    }

    public Optional<Task> find(TaskId id) {
        return db.read(sql -> TaskRows.find(sql, id));
    }

    public Map<TaskId, String> titles(Collection<TaskId> ids) {
        return db.read(sql -> TaskRows.titles(sql, List.copyOf(Set.copyOf(ids))));
    }

    /// Returns the task with an id from a request, if its owner is one of `mine`. Fails with `no-such-task`.
    public Task require(String id, Predicate<UserId> mine) {
        return Optional.of(id)
                .filter(TaskId::isWellFormed)
                .flatMap(text -> find(new TaskId(text)))
                .filter(task -> mine.test(task.owner()))
                .orElseThrow(() -> unknown(id));
    }

    /// Stores the status that the worker in a sandbox reports, unless its run is in a race. Fails with `task-over`
    /// if the run of that worker is over.
    public Task reported(SandboxId sandbox, TaskId id, Task.Report status, Optional<String> message) {
        return db.write(sql -> {
            Run run = requireAtWork(sql, sandbox, id);
            if (!TaskRows.isInRace(sql, run.id())) {
                TaskRows.reported(sql, id, status, message, now());
            }
            return TaskRows.find(sql, id).orElseThrow(() -> unknown(id.value())).withReport(status);
        });
    }

    /// Stores the result of the worker in a sandbox, a JSON object as text. In a race, the result becomes that of
    /// the task when the attempt wins. Fails with `task-over`.
    public void result(SandboxId sandbox, TaskId id, String result) {
        db.write(sql -> {
            Run run = requireAtWork(sql, sandbox, id);
            if (!TaskRows.isInRace(sql, run.id())) {
                TaskRows.result(sql, id, result, now());
            }
            RunRows.result(sql, run.id(), result);
            return id;
        });
    }

    /// Fails with `task-over` if the sandbox has no active run at the task. Such a task never becomes active again
    /// there.
    public void requireAtWork(SandboxId sandbox, TaskId id) {
        db.read(sql -> {
            requireAtWork(sql, sandbox, id);
            return id;
        });
    }

    @CanIgnoreReturnValue
    private static Run requireAtWork(Sql sql, SandboxId sandbox, TaskId id) throws SQLException {
        Optional<Run> run = RunRows.activeAtTask(sql, sandbox, id);
        if (run.isEmpty()) {
            String state =
                    TaskRows.find(sql, id).map(task -> task.status().text()).orElse("unknown");
            throw new SandboxException(new RunFailure.TaskOver(sandbox, id, state));
        }
        return run.get();
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= 64 ? id : id.substring(0, 64) + "…";
        return new SandboxException(new RunFailure.NoSuchTask(shown));
    }
}
