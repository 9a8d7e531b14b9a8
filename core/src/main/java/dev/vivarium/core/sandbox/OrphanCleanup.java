package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.InventoryRecord;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes machines and disks that no sandbox has. It deletes a disk only if the sandbox has ended or was never handed
/// out. A store that has lost rows can explain every other disk, so those go to `orphans/`. Thread-safe.
final class OrphanCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanCleanup.class);

    private final Provider provider;
    private final Inventory inventory;
    private final SandboxRows rows;
    private final Registry registry;
    private final TimeSource timeSource;
    private final Duration keepOrphans;
    private final Termination ending;

    OrphanCleanup(
            Provider provider,
            SandboxRows rows,
            Registry registry,
            TimeSource timeSource,
            Duration keepOrphans,
            Termination ending) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.rows = rows;
        this.registry = registry;
        this.timeSource = timeSource;
        this.keepOrphans = keepOrphans;
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
            registry.release(id);
            return false;
        }
        return isDisposable ? remove(id) : setAside(id);
    }

    private boolean remove(SandboxId id) {
        boolean removed = ending.remove(id);
        if (removed) {
            rows.forgetUnowned(id);
        }
        return removed;
    }

    /// Asks the store only if the files do not give the answer: the pool must get rid of machines when the store
    /// fails.
    private boolean isDisposable(SandboxId id) {
        InventoryRecord trace = inventory.trace(id);
        if (!trace.hasDisk() || trace.isUnused()) {
            return true;
        }
        Optional<SandboxRow> row = rows.find(id);
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
            rows.forgetUnowned(id);
            keepDisk(id);
            LOG.warn(
                    "the store has no sandbox {}; its disk is in orphans/ and will be deleted after {} days",
                    id,
                    keepOrphans.toDays());
            return true;
        } catch (RuntimeException e) {
            LOG.warn("the disk of {} could not be moved to orphans/, and will be tried again: {}", id, e.getMessage());
            return false;
        } finally {
            registry.release(id);
        }
    }

    /// Ends the machine and moves its disk to `orphans/`.
    void keepDisk(SandboxId id) {
        registry.inTurn(id, () -> {
            provider.remove(id, Disk.KEEP);
            inventory.setAside(id, timeSource.now());
            return id;
        });
    }

    /// Moves disks back from `orphans/` whose rows are there again: somebody has put the newer store back.
    void takeBackKnown() {
        for (SandboxId id : inventory.orphanDisks().keySet()) {
            Optional<SandboxRow> row = rows.find(id);
            // A row without an owner is older than the disk, and would have it deleted as unused.
            if (row.isPresent()
                    && row.get().end().isEmpty()
                    && row.get().owner().isPresent()) {
                inventory.takeBack(id);
                LOG.info("the disk of {} was moved back from orphans/", id);
            }
        }
    }

    /// Deletes what has been in `orphans/` for long enough.
    void deleteOldOrphans() {
        var before = timeSource.now().minus(keepOrphans);
        inventory.deleteOrphans(before).forEach(id -> LOG.info("orphan {} was deleted", id));
    }
}
