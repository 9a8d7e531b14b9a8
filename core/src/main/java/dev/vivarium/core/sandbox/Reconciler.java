package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/// Periodic comparison of the provider and the store with the registered sandboxes. It removes machines and disks whose
/// removal failed or that a killed server left, and ends rows without a sandbox. Thread-safe.
final class Reconciler {
    private final Engine engine;
    private final Termination termination;
    private final OrphanCleanup leftovers;
    private final AtomicLong passes = new AtomicLong();
    private final AtomicLong orphans = new AtomicLong();

    Reconciler(Engine engine, Termination termination, OrphanCleanup leftovers) {
        this.engine = engine;
        this.termination = termination;
        this.leftovers = leftovers;
    }

    Reconciliation counts() {
        return new Reconciliation(passes.get(), orphans.get());
    }

    void runOnce() {
        termination.settle();
        removeOrphans();
        endForgottenRows();
        leftovers.deleteOldOrphans();
        // After the removal, because a disk with a pruned row looks like a disk with a lost row.
        engine.rows.prune(engine.timeSource.now().minus(engine.config.times().keepEnded()));
        passes.incrementAndGet();
    }

    /// The order matters: an id is claimed before anything of it exists. A trace that is found first and whose id
    /// is not claimed afterwards has no owner.
    private void removeOrphans() {
        Set<SandboxId> found = engine.provider.survivors();
        for (SandboxId id : found) {
            if (!engine.registry.isClaimed(id) && leftovers.clear(id)) {
                orphans.incrementAndGet();
                engine.listeners.call(listener -> listener.orphanRemoved(id));
            }
        }
    }

    private void endForgottenRows() {
        for (SandboxRow row : engine.rows.alive()) {
            if (engine.registry.isClaimed(row.id())
                    || termination.findUnstored(row.id()).isPresent()) {
                continue;
            }
            if (row.owner().isEmpty()) {
                engine.rows.forgetUnowned(row.id());
            } else {
                engine.rows.end(
                        row.id(),
                        Phase.FAILED,
                        new End(End.Cause.SERVER, "the server lost it", engine.timeSource.now()));
            }
        }
    }
}
