package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.provider.InventoryRecord;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.SandboxId;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes machines and disks that no sandbox has. It deletes a disk only if the sandbox has ended or was never handed
/// out. A store that has lost rows can explain every other disk, so those go to `orphans/`. Thread-safe.
final class OrphanCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanCleanup.class);

    private final Engine engine;
    private final Termination ending;

    OrphanCleanup(Engine engine, Termination ending) {
        this.engine = engine;
        this.ending = ending;
    }

    /// Removes everything of `id` and releases the id. Reports whether it succeeded; if not, the reconciler tries
    /// again.
    @CanIgnoreReturnValue
    boolean clear(SandboxId id) {
        boolean isDisposable;
        try {
            isDisposable = isDisposable(id);
        } catch (RuntimeException e) {
            LOG.warn("cannot decide whether to keep the disk of {}, and will try again: {}", id, e.getMessage());
            engine.registry.release(id);
            return false;
        }
        return isDisposable ? remove(id) : setAside(id);
    }

    private boolean remove(SandboxId id) {
        boolean removed = ending.remove(id);
        if (removed) {
            engine.rows.forgetUnowned(id);
        }
        return removed;
    }

    /// Asks the store only if the files do not give the answer: the pool must get rid of machines when the store
    /// fails.
    private boolean isDisposable(SandboxId id) {
        InventoryRecord trace = engine.inventory.trace(id);
        if (!trace.hasDisk() || trace.isUnused()) {
            return true;
        }
        Optional<SandboxRow> row = engine.rows.find(id);
        if (row.isEmpty()) {
            return false;
        }
        if (row.get().end().isPresent()) {
            return true;
        }
        // The host was restarted, so the machine's own record is gone; the label would say if it had been handed out.
        return row.get().owner().isEmpty() && !trace.hasMachine() && !trace.hasOwner();
    }

    /// Deletes a row without an owner first. The row is older than the disk. Once the machine's record is gone,
    /// that row would say that the disk was never used.
    private boolean setAside(SandboxId id) {
        try {
            engine.rows.forgetUnowned(id);
            keepDisk(id);
            LOG.warn(
                    "the store has no sandbox {}; its disk is in orphans/ and will be deleted after {} days",
                    id,
                    engine.config.times().keepOrphans().toDays());
            return true;
        } catch (RuntimeException e) {
            LOG.warn("the disk of {} could not be moved to orphans/, and will be tried again: {}", id, e.getMessage());
            return false;
        } finally {
            engine.registry.release(id);
        }
    }

    /// Ends the machine and moves its disk to `orphans/`.
    void keepDisk(SandboxId id) {
        engine.registry.inTurn(id, () -> {
            engine.provider.remove(id, Disk.KEEP);
            engine.inventory.setAside(id, engine.timeSource.now());
            return id;
        });
    }

    /// Moves disks back from `orphans/` whose rows are there again: somebody has put the newer store back.
    void takeBackKnown() {
        for (SandboxId id : engine.inventory.orphanDisks().keySet()) {
            Optional<SandboxRow> row = engine.rows.find(id);
            // A row without an owner is older than the disk, and would have it deleted as unused.
            if (row.isPresent()
                    && row.get().end().isEmpty()
                    && row.get().owner().isPresent()) {
                engine.inventory.takeBack(id);
                LOG.info("the disk of {} was moved back from orphans/", id);
            }
        }
    }

    /// Deletes what has been in `orphans/` for long enough.
    void deleteOldOrphans() {
        var before = engine.timeSource.now().minus(engine.config.times().keepOrphans());
        engine.inventory.deleteOrphans(before).forEach(id -> LOG.info("orphan {} was deleted", id));
    }
}
