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

/// Removal of machines and disks without a sandbox. It deletes a disk only if the sandbox has ended or was never handed
/// out. Every other disk may belong to a lost row, so it is moved to `orphans/`. Thread-safe.
final class OrphanCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanCleanup.class);

    private final Provider provider;
    private final Inventory inventory;
    private final SandboxRows rows;
    private final Registry registry;
    private final TimeSource timeSource;
    private final Duration keepOrphans;
    private final Termination termination;

    OrphanCleanup(
            Provider provider,
            SandboxRows rows,
            Registry registry,
            TimeSource timeSource,
            Duration keepOrphans,
            Termination termination) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.rows = rows;
        this.registry = registry;
        this.timeSource = timeSource;
        this.keepOrphans = keepOrphans;
        this.termination = termination;
    }

    /// Removes everything of `id` and releases the id. Returns false on failure; the reconciler then tries again.
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
        boolean removed = termination.remove(id);
        if (removed) {
            rows.forgetUnowned(id);
        }
        return removed;
    }

    /// Queries the store only if the files do not suffice, because the pool must remove machines while the store
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
        // After a restart of the host, the record of the machine is gone. If the disk was handed out, its label has an
        // owner.
        return row.get().owner().isEmpty() && !trace.hasMachine() && !trace.hasOwner();
    }

    /// Deletes a row without an owner first, because the row is older than the disk. Without the record of the
    /// machine, such a row means that the disk was never used.
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

    /// Kills the machine and moves its disk to `orphans/`.
    void keepDisk(SandboxId id) {
        registry.exclusively(id, () -> {
            provider.remove(id, Disk.KEEP);
            inventory.setAside(id, timeSource.now());
            return id;
        });
    }

    /// Moves disks back from `orphans/` if the store has their rows again, for example after a newer store was
    /// restored.
    void restoreKnownOrphans() {
        for (SandboxId id : inventory.orphanDisks().keySet()) {
            Optional<SandboxRow> row = rows.find(id);
            // A row without an owner is older than the disk. With it, the disk would be deleted as unused.
            if (row.isPresent()
                    && row.get().end().isEmpty()
                    && row.get().owner().isPresent()) {
                inventory.restoreOrphan(id);
                LOG.info("the disk of {} was moved back from orphans/", id);
            }
        }
    }

    /// Deletes expired disks from `orphans/`.
    void deleteOldOrphans() {
        var before = timeSource.now().minus(keepOrphans);
        inventory.deleteOrphans(before).forEach(id -> LOG.info("orphan {} was deleted", id));
    }
}
