package dev.vivarium.core.sandbox;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.InventoryRecord;
import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Adoption of disks and snapshots of a home for which the store has no rows. The next [Sandboxes#open] starts each
/// sandbox again on its disk. Disks and snapshots without a readable label are moved to `orphans/`. Confined to one
/// thread.
public final class Adoption {
    private static final Logger LOG = LoggerFactory.getLogger(Adoption.class);

    private final Provider provider;
    private final Inventory inventory;
    private final Db db;
    private final SandboxRows rows;
    private final SnapshotRows snapshots;
    private final TimeSource timeSource;
    private final Duration lifetime;

    /// Threads that have a sandbox.
    private final Set<ThreadKey> taken = new HashSet<>();

    /// @param lifetime lifetime of an adopted sandbox
    public Adoption(Provider provider, Db db, InstantSource clock, Duration lifetime) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.db = db;
        this.rows = new SandboxRows(db);
        this.snapshots = new SnapshotRows(db);
        this.timeSource = TimeSource.of(new Scheduler(clock));
        this.lifetime = lifetime;
    }

    /// Adopts everything in the home. No server may use the home. Can be repeated after a failure.
    public void run() {
        rows.alive().forEach(row -> row.owner().ifPresent(taken::add));
        for (SandboxId id : provider.survivors()) {
            if (isUnknown(id)) {
                adoptOrSetAside(id);
            }
        }
        adoptOrphans();
        for (SnapshotId id : provider.snapshots()) {
            if (snapshots.find(id).isEmpty()) {
                adoptOrSetAside(id);
            }
        }
    }

    /// A row without an owner is older than the disk, so it does not describe a disk that was handed out.
    private boolean isUnknown(SandboxId id) {
        Optional<SandboxRow> row = rows.find(id);
        return row.isEmpty()
                || row.get().owner().isEmpty() && inventory.trace(id).hasOwner();
    }

    private void adoptOrSetAside(SandboxId id) {
        InventoryRecord trace = inventory.trace(id);
        boolean isWorthless = trace.isUnused() || !trace.hasDisk();
        rows.forgetUnowned(id);
        // The secret of its guest was in the lost row.
        provider.remove(id, isWorthless ? Disk.ERASE : Disk.KEEP);
        if (isWorthless) {
            LOG.info("removed machine {}, which was never handed out", id);
            return;
        }
        Optional<String> obstacle = obstacle(trace.label());
        if (obstacle.isEmpty()) {
            adopt(id, trace.label().orElseThrow());
        } else {
            inventory.setAside(id, timeSource.now());
            LOG.warn("moved the disk of {} to orphans/: {}", id, obstacle.get());
        }
    }

    /// Adopts the orphans whose thread has no sandbox.
    private void adoptOrphans() {
        for (Map.Entry<SandboxId, Optional<Label>> orphan :
                inventory.orphanDisks().entrySet()) {
            if (rows.find(orphan.getKey()).isEmpty()
                    && obstacle(orphan.getValue()).isEmpty()) {
                inventory.restoreOrphan(orphan.getKey());
                adopt(orphan.getKey(), orphan.getValue().orElseThrow());
            }
        }
        inventory.orphanSnapshots().forEach((id, label) -> {
            if (snapshots.find(id).isEmpty()
                    && label.flatMap(text -> LabelFields.snapshot(id, text)).isPresent()) {
                inventory.restoreOrphan(id);
            }
        });
    }

    /// Reason why a disk cannot be adopted, if any.
    private Optional<String> obstacle(Optional<Label> label) {
        Optional<LabelFields.Described> described = label.flatMap(LabelFields::sandbox);
        if (described.isEmpty()) {
            return Optional.of("it has no label that says whose it is");
        }
        ThreadKey owner = described.get().owner();
        if (taken.contains(owner)) {
            return Optional.of("thread " + owner + " has another sandbox");
        }
        try {
            provider.requireImage(described.get().image());
            return Optional.empty();
        } catch (SandboxException e) {
            return Optional.of(e.failure().sentence());
        }
    }

    private void adopt(SandboxId id, Label label) {
        SandboxRow row = row(id, LabelFields.sandbox(label).orElseThrow());
        ThreadKey owner = row.owner().orElseThrow();
        rows.insert(row);
        inventory.label(id, LabelFields.of(db.id(), row));
        taken.add(owner);
        LOG.info("adopted sandbox {} of user {} and thread {}", id, owner.user(), owner.thread());
    }

    /// Row of a sandbox that ran before a restart of the host. Its environment and its egress rules were only in
    /// the lost row.
    private SandboxRow row(SandboxId id, LabelFields.Described described) {
        Instant now = timeSource.now();
        return new SandboxRow(
                id,
                Optional.of(described.owner()),
                Phase.RUNNING,
                described.image(),
                timeSource.newSecret(),
                described.limits(),
                Map.of(),
                Egress.NONE,
                described.idleTimeout(),
                described.onIdle(),
                now,
                now,
                now.plus(lifetime),
                Optional.empty());
    }

    private void adoptOrSetAside(SnapshotId id) {
        InventoryRecord trace = inventory.trace(id);
        Optional<SnapshotInfo> described = trace.label().flatMap(label -> LabelFields.snapshot(id, label));
        if (!trace.hasDisk()) {
            provider.deleteSnapshot(id);
        } else if (described.isPresent()) {
            adopt(described.get());
        } else {
            inventory.setAside(id, timeSource.now());
            LOG.warn("moved snapshot {} to orphans/: it has no label that says whose it is", id);
        }
    }

    private void adopt(SnapshotInfo snapshot) {
        ThreadKey owner = snapshot.key();
        rows.addThread(owner, timeSource.now());
        snapshots.insert(snapshot);
        inventory.label(snapshot.id(), LabelFields.of(db.id(), snapshot));
        LOG.info("adopted snapshot {} of user {} and thread {}", snapshot.id(), owner.user(), owner.thread());
    }
}
