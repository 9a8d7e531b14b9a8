package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import java.util.Optional;

/// Description of a sandbox or a snapshot by its files, without the store. Immutable.
///
/// @param hasDisk    whether there is a disk, or a complete snapshot
/// @param hasMachine whether there is the directory of a running or stopped machine
/// @param isUnused   whether the machine was started on a new disk and was never handed out
/// @param store      id of its store, if recorded
public record InventoryRecord(
        boolean hasDisk, boolean hasMachine, boolean isUnused, Optional<StoreId> store, Optional<Label> label) {
    /// Reports whether the label contains an owner. The label of a disk that was never handed out does not.
    public boolean hasOwner() {
        return label.isPresent() && !label.get().fields().isEmpty();
    }
}
