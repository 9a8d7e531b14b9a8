package dev.vivarium.core.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts runs that continue the task of a run that ended abnormally: in a new sandbox with a copy of its files, with
/// its conversation and the rest of its budget. Thread-safe.
///
/// The steps are: snapshot, end of the old sandbox, fork, start of the run, deletion of the snapshot. After a crash the
/// next server resumes at the first step that has left no trace:
///
/// | step | trace |
/// |---|---|
/// | snapshot | a snapshot whose name contains the run |
/// | fork | the origin of the disk, in the transaction of the row of the sandbox. Such a sandbox without a run is ended
/// |
/// | begin of the run | the id of the run with the abnormal end, in the transaction of the row of the run |
/// | deletion of the snapshot | the abnormal end has no snapshot and is not pending |
public final class Continuations {
    private static final Logger LOG = LoggerFactory.getLogger(Continuations.class);

    private final Agents agents;
    private final Sandboxes sandboxes;
    private final Restarts restarts;
    private final EventLog log;
    private final Consumer<Run> before;

    /// @param before called before the sandbox of the earlier run ends
    public Continuations(Agents agents, Sandboxes sandboxes, Restarts restarts, EventLog log, Consumer<Run> before) {
        this.agents = agents;
        this.sandboxes = sandboxes;
        this.restarts = restarts;
        this.log = log;
        this.before = before;
    }

    /// Starts a run that continues `earlier`. Fails with `DiskFull` if the disk of the sandbox is full: then the
    /// sandbox is kept for inspection.
    ///
    /// @param wanted the new run. Its budget is replaced by the rest of that of the earlier run
    @CanIgnoreReturnValue
    public Run start(Run earlier, NewRun wanted) {
        before.accept(earlier);
        Optional<SnapshotInfo> files = files(earlier);
        sandboxes.terminate(earlier.sandbox(), End.Cause.SERVER, "its task continues in another sandbox");
        files.ifPresent(snapshot -> endFork(wanted.sandbox().key(), snapshot));
        Run next = agents.resume(earlier, withRest(earlier, files, wanted));
        finish(earlier, next);
        return next;
    }

    /// Ends the sandbox that an earlier server created from a snapshot before it was killed.
    private void endFork(ThreadKey key, SnapshotInfo snapshot) {
        sandboxes
                .find(key)
                .filter(found -> isForkOf(found.id(), snapshot) && !agents.isAtWork(found.id()))
                .ifPresent(left -> sandboxes.terminate(left.id(), End.Cause.SERVER, "its run did not begin"));
    }

    private boolean isForkOf(SandboxId sandbox, SnapshotInfo snapshot) {
        return forkedFrom(sandbox).filter(snapshot.id()::equals).isPresent();
    }

    private Optional<SnapshotId> forkedFrom(SandboxId sandbox) {
        return sandboxes.snapshots().origins().find(sandbox).flatMap(DiskOrigins.Origin::forkedFrom);
    }

    /// Finishes a restart after the begin of the next run: appends its event and deletes the snapshot. If the
    /// worker of the next run did not start, the snapshot stays for another attempt. Idempotent.
    public void finish(Run earlier, Run next) {
        if (!isUnstarted(next)) {
            append(earlier, next, forkedFrom(next.sandbox()).isPresent());
            saved(earlier).forEach(sandboxes.snapshots()::delete);
            restarts.release(earlier.id());
        }
        restarts.done(earlier.id(), Optional.of(next.id()));
    }

    /// Reports whether the worker of an ended run never started, for example because the server was killed.
    public static boolean isUnstarted(Run run) {
        return !run.isActive()
                && run.reasonCode().filter(ReasonCode.NOT_STARTED::equals).isPresent();
    }

    /// Returns the request with these files, the image that they belong to, and the rest of the budget.
    private NewRun withRest(Run earlier, Optional<SnapshotInfo> files, NewRun wanted) {
        var rest = earlier.budgetUsd()
                .map(budget -> budget.subtract(earlier.spent().costUsd()).max(BigDecimal.ZERO));
        NewSandbox sandbox = wanted.sandbox();
        Optional<String> image =
                sandbox.image().or(() -> sandboxes.requestOf(earlier.sandbox()).flatMap(NewSandbox::image));
        return new NewRun(
                wanted.task(),
                wanted.program(),
                image.map(sandbox::withImage).orElse(sandbox),
                rest,
                Optional.empty(),
                wanted.guardian(),
                wanted.repository(),
                files);
    }

    /// Returns the stored snapshot, or takes one. Returns nothing if the sandbox has lost its disk, or if the
    /// provider has no snapshots.
    private Optional<SnapshotInfo> files(Run earlier) {
        Optional<SnapshotInfo> stored = restarts.find(earlier.id())
                .flatMap(Restarts.Entry::snapshot)
                .flatMap(id -> sandboxes.snapshots().find(id.value()))
                .or(() -> rescued(earlier));
        if (stored.isPresent()) {
            return stored;
        }
        Optional<Sandbox> sandbox = sandboxes.find(earlier.sandbox());
        sandbox.filter(sandboxes::hasFullDisk).ifPresent(full -> {
            restarts.quarantine(earlier, "its disk is full, so that a restart cannot help");
            throw new SandboxException(new Failure.DiskFull(full.id()));
        });
        return sandbox.flatMap(found -> snapshot(earlier, found));
    }

    /// Returns the snapshot that was taken when the sandbox crashed.
    private Optional<SnapshotInfo> rescued(Run earlier) {
        Optional<SnapshotInfo> found = saved(earlier).stream().reduce((_, newest) -> newest);
        found.ifPresent(snapshot -> restarts.hold(earlier.id(), snapshot.id()));
        return found;
    }

    /// Stores the snapshot that was taken when the sandbox of a run crashed, so that it is deleted if no run
    /// continues the task.
    public void adoptRescued(Run earlier) {
        if (sandboxes.findEnded(earlier.sandbox()).isPresent()) {
            var _ = rescued(earlier);
        }
    }

    /// Returns the snapshots of the files of a run, oldest first. A crash can leave two.
    private List<SnapshotInfo> saved(Run earlier) {
        return sandboxes.snapshots().list(earlier.key()).stream()
                .filter(snapshot -> snapshot.sandbox().equals(earlier.sandbox())
                        && snapshot.name().equals(snapshotOf(earlier)))
                .toList();
    }

    /// Returns the name of the snapshot of the files of a run.
    static String snapshotOf(Run run) {
        return "restart of " + run.id();
    }

    private Optional<SnapshotInfo> snapshot(Run earlier, Sandbox sandbox) {
        try {
            SnapshotInfo snapshot = sandboxes.snapshots().take(sandbox, snapshotOf(earlier));
            restarts.hold(earlier.id(), snapshot.id());
            return Optional.of(snapshot);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.Unsupported) {
                LOG.warn("Run {} is continued without its files: {}", earlier.id(), e.getMessage());
                return Optional.empty();
            }
            if (!isUnreachable(e.failure())) {
                throw e;
            }
            // The end of a crashed sandbox saves its files.
            sandboxes.terminate(sandbox.id(), End.Cause.CRASH, "its guest does not respond");
            return rescued(earlier);
        }
    }

    private static boolean isUnreachable(Failure failure) {
        return failure instanceof Failure.SandboxNotRunning
                || failure instanceof Failure.GuestUnreachable
                || failure instanceof Failure.SandboxEnded;
    }

    private void append(Run earlier, Run next, boolean hasFiles) {
        var body = new LivenessEvent.Restarted(
                earlier.id(),
                earlier.task(),
                earlier.reasonCode().orElse(""),
                next.id(),
                next.sandbox(),
                hasFiles,
                next.session().isPresent());
        String id = NewEvent.OUR_IDS + earlier.id() + "." + body.type();
        log.append(earlier.sandbox(), new NewEvent(Optional.of(id), body, NewEvent.OURS));
    }
}
