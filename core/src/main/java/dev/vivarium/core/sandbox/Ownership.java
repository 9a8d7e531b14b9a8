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

/// Writes beside each disk whose it is, so that a server with another store can give it back. Thread-safe.
final class Ownership {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    private final Inventory inventory;
    private final StoreId store;

    /// Handed out since the last [#flush].
    private final Set<Sandbox> unlabelled = ConcurrentHashMap.newKeySet();

    Ownership(Inventory inventory, StoreId store) {
        this.inventory = inventory;
        this.store = store;
    }

    /// Remembers that a sandbox that is handed out needs a label. The next [#flush] writes it: a file at this
    /// moment would make the creation slower.
    void labelLater(Sandbox sandbox) {
        unlabelled.add(sandbox);
    }

    /// Writes the labels of sandboxes that were handed out.
    void flush() {
        for (Sandbox sandbox : unlabelled) {
            unlabelled.remove(sandbox);
            if (sandbox.info().end().isEmpty()) {
                label(sandbox);
            }
        }
    }

    /// For a sandbox of an earlier server, which may have been killed before it wrote the label.
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

    /// The sandbox may have ended meanwhile, and its files may be gone: then the label must not stay.
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
