package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import java.util.Optional;

/// Record of a sandbox or a snapshot that its files hold without the store. Immutable.
///
/// @param hasDisk    whether there is a disk, or a complete snapshot
/// @param hasMachine whether there is the directory of a machine, which runs or has run
/// @param isUnused   whether the machine was started on a new disk and was never handed out
/// @param store      whose it is, if anything says so
public record InventoryRecord(
        boolean hasDisk, boolean hasMachine, boolean isUnused, Optional<StoreId> store, Optional<Label> label) {
    /// Reports whether the label says whose it is. That of a disk that was never handed out does not.
    public boolean hasOwner() {
        return label.isPresent() && !label.get().fields().isEmpty();
    }
}
