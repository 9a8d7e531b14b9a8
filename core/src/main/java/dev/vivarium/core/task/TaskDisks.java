package dev.vivarium.core.task;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots of the disks of completed tasks, for the tasks that inherit them. Thread-safe.
///
/// The sandbox of a completed task ends soon. The server therefore takes the snapshot as soon as the task has
/// completed, and deletes the snapshot as soon as all tasks that inherit from it have ended.
final class TaskDisks {
    private static final Logger LOG = LoggerFactory.getLogger(TaskDisks.class);

    private final TaskQueue queue;
    private final DutyLease lease;
    private final AttemptRunner runner;
    private final Map<TaskId, CompletableFuture<SnapshotInfo>> beingTaken = new ConcurrentHashMap<>();

    /// Disks that this server could not save in advance. It tries again when a task needs them.
    private final Set<TaskId> failed = ConcurrentHashMap.newKeySet();

    TaskDisks(TaskQueue queue, DutyLease lease, AttemptRunner runner) {
        this.queue = queue;
        this.lease = lease;
        this.runner = runner;
    }

    /// Returns what an attempt starts with. Fails with `task-disk-gone` if the files do not exist any more.
    AttemptRunner.Start startOf(Dispatch.Job job) {
        Optional<Inherit> inherit = job.row().plan().inherit();
        if (inherit.isEmpty()) {
            return AttemptRunner.Start.EMPTY;
        }
        TaskId from = new TaskId(inherit.get().from());
        boolean hasFiles = inherit.get().files();
        return new AttemptRunner.Start(
                hasFiles ? Optional.of(require(from)) : Optional.empty(),
                inherit.get().conversation() ? Optional.of(sandbox(from)) : Optional.empty(),
                hasFiles ? image(from, job.row().plan()) : Optional.empty());
    }

    /// Returns the image of the disk, unless the agents need different images.
    private Optional<String> image(TaskId from, TaskPlan heir) {
        return queue.find(from)
                .map(QueuedTask::plan)
                .filter(plan -> runtime(plan).equals(runtime(heir)))
                .flatMap(plan -> plan.sandbox().image());
    }

    private static Optional<Run.Runtime> runtime(TaskPlan plan) {
        return plan.program().map(Run.Program::runtime);
    }

    private SandboxId sandbox(TaskId task) {
        return queue.db()
                .read(sql -> AttemptRows.completedSandbox(sql, task))
                .orElseThrow(() -> gone(task, "it has no completed attempt"));
    }

    private static SandboxException gone(TaskId task, String why) {
        return new SandboxException(new RunFailure.TaskDiskGone(task, why));
    }

    /// Returns the snapshot of a task, and takes it if necessary. Concurrent calls take one.
    private SnapshotInfo require(TaskId task) {
        var mine = new CompletableFuture<SnapshotInfo>();
        CompletableFuture<SnapshotInfo> others = beingTaken.putIfAbsent(task, mine);
        if (others != null) {
            return await(others);
        }
        try {
            SnapshotInfo snapshot = find(task).orElseGet(() -> take(task));
            mine.complete(snapshot);
            return snapshot;
        } catch (RuntimeException e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            beingTaken.remove(task, mine);
        }
    }

    private static SnapshotInfo await(CompletableFuture<SnapshotInfo> snapshot) {
        try {
            return snapshot.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SandboxException known) {
                throw new SandboxException(known.failure(), known);
            }
            throw e;
        }
    }

    private Optional<SnapshotInfo> find(TaskId task) {
        return queue.db().read(sql -> DiskRows.snapshot(sql, task)).flatMap(runner::find);
    }

    private SnapshotInfo take(TaskId task) {
        SandboxId id = sandbox(task);
        Sandbox sandbox = runner.find(id).orElseThrow(() -> gone(task, runner.end(id)));
        SnapshotInfo snapshot = runner.snapshot(sandbox, "disk of task " + task);
        lease.write(sql -> {
            DiskRows.store(sql, task, snapshot.id());
            return snapshot;
        });
        return snapshot;
    }

    /// Reports whether [#maintain] may have something to do.
    boolean isUsed() {
        return queue.db().read(DiskRows::isAny);
    }

    /// Saves the disks of completed tasks, and deletes the snapshots that no task needs any more.
    void maintain() {
        for (TaskId task : queue.db().read(DiskRows::unsaved)) {
            if (!failed.contains(task)) {
                save(task);
            }
        }
        for (DiskRows.Disk disk : queue.db().read(DiskRows::unused)) {
            delete(disk);
        }
    }

    private void save(TaskId task) {
        try {
            SnapshotInfo _ = require(task);
        } catch (SandboxException e) {
            failed.add(task);
            LOG.warn("The disk of task {} is not saved yet: {}", task, e.getMessage());
        }
    }

    /// Deletes the row last, so that the next server repeats an unfinished deletion.
    private void delete(DiskRows.Disk disk) {
        Optional<SnapshotId> snapshot = disk.snapshot();
        snapshot.flatMap(runner::find).ifPresent(runner::delete);
        failed.remove(disk.task());
        lease.write(sql -> {
            DiskRows.delete(sql, disk.task());
            return disk;
        });
    }
}
