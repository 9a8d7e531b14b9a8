package dev.vivarium.core.provider.oci;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Directories of the disks, snapshots and machines of this provider. The volume label of an ext4 image is the id of
/// its store. Immutable.
record OciInventory(Path home, HostPaths place, Disks images, DiskSnapshots saved) implements Inventory.Places {
    @Override
    public List<Path> disks() throws IOException {
        return images.directories();
    }

    @Override
    public List<Path> snapshots() throws IOException {
        return saved.directories();
    }

    @Override
    public Path machine(SandboxId id) {
        return place.directory(id).path();
    }

    @Override
    public Path orphansOf(Path directory) {
        if (directory.startsWith(home)) {
            return home.resolve("orphans");
        }
        return directory.endsWith(DiskSnapshots.DIRECTORY)
                ? directory.resolveSibling("orphans")
                : directory.resolve("orphans");
    }

    @Override
    public Optional<StoreId> storeOf(Path disk) throws IOException {
        return Files.isRegularFile(disk) ? new Ext4Image(disk).store() : Optional.empty();
    }

    @Override
    public void writeStore(Path disk, StoreId store) throws IOException {
        if (Files.isRegularFile(disk)) {
            new Ext4Image(disk).writeStore(store);
        }
    }
}
