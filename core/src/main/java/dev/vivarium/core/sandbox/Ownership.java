package dev.vivarium.core.sandbox;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.InventoryRecord;
import dev.vivarium.core.provider.Label;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writer of the labels beside the disks. A label names the owner, so that a server with another store can adopt the
/// disk. Thread-safe.
final class Ownership {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    private final Inventory inventory;
    private final StoreId store;

    /// Sandboxes without a label since the last [#flush].
    private final Set<Sandbox> unlabelled = ConcurrentHashMap.newKeySet();

    Ownership(Inventory inventory, StoreId store) {
        this.inventory = inventory;
        this.store = store;
    }

    /// Lets the next [#flush] write the label of a new sandbox. Writing it now would delay the creation.
    void labelLater(Sandbox sandbox) {
        unlabelled.add(sandbox);
    }

    /// Writes the labels of new sandboxes.
    void flush() {
        for (Sandbox sandbox : unlabelled) {
            unlabelled.remove(sandbox);
            if (sandbox.info().end().isEmpty()) {
                label(sandbox);
            }
        }
    }

    /// Writes the label of a recovered sandbox, if the earlier server was killed before it wrote one.
    void confirm(Sandbox sandbox) {
        try {
            inventory.recordUse(sandbox.id());
            InventoryRecord trace = inventory.trace(sandbox.id());
            if (!trace.label().equals(Optional.of(labelOf(sandbox)))) {
                label(sandbox);
            }
        } catch (RuntimeException e) {
            LOG.warn("the label of {} could not be checked: {}", sandbox.id(), e.getMessage());
        }
    }

    /// If the sandbox has ended and its disk is gone, deletes the label again.
    private void label(Sandbox sandbox) {
        try {
            inventory.label(sandbox.id(), labelOf(sandbox));
            if (sandbox.info().end().isPresent()
                    && !inventory.trace(sandbox.id()).hasDisk()) {
                inventory.deleteLabel(sandbox.id());
            }
        } catch (RuntimeException e) {
            LOG.warn("the label of {} could not be written: {}", sandbox.id(), e.getMessage());
        }
    }

    private Label labelOf(Sandbox sandbox) {
        return LabelFields.of(store, sandbox.row());
    }
}
