package dev.vivarium.core.run;

import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Saves the files of a crashed sandbox in which an agent worked, before its machine is removed. Thread-safe.
///
/// Must precede the [Supervisor] among the listeners, so that the snapshot exists when the run ends. The end of a
/// crashed sandbox waits for the snapshot.
public final class DiskRescue implements SandboxListener {
    private static final Logger LOG = LoggerFactory.getLogger(DiskRescue.class);

    private final Runs runs;
    private final Restarts restarts;
    private volatile Optional<Sandboxes> sandboxes = Optional.empty();

    public DiskRescue(Runs runs, Restarts restarts) {
        this.runs = runs;
        this.restarts = restarts;
    }

    public void start(Sandboxes all) {
        sandboxes = Optional.of(all);
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        boolean isCrash = sandbox.end()
                .map(End::cause)
                .filter(cause -> cause == End.Cause.CRASH || cause == End.Cause.OOM)
                .isPresent();
        if (isCrash && sandboxes.isPresent() && restarts.max() > 0) {
            rescue(sandbox, sandboxes.get());
        }
    }

    private void rescue(SandboxInfo sandbox, Sandboxes all) {
        try {
            runs.find(sandbox.id())
                    .filter(this::isContinued)
                    .ifPresent(run -> all.snapshots().rescue(sandbox, Continuations.snapshotOf(run)));
        } catch (SandboxException e) {
            LOG.warn("The files of the crashed sandbox {} are lost: {}", sandbox.id(), e.getMessage());
        }
    }

    /// Reports whether another run may need the files. An abnormal end may have a snapshot already.
    private boolean isContinued(Run run) {
        Optional<Restarts.Entry> entry = restarts.find(run.id());
        boolean isSaved = entry.flatMap(Restarts.Entry::snapshot).isPresent();
        return run.heartbeat().isPresent() && !isSaved && (run.isActive() || entry.isPresent());
    }
}
