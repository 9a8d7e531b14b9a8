package dev.vivarium.core.provider.process;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Directories of this provider. They contain no store id; their labels do. Immutable.
record PlainPlaces(Path run, Path workspaces, Path copies) implements Inventory.Places {
    @Override
    public List<Path> disks() {
        return List.of(workspaces);
    }

    @Override
    public List<Path> snapshots() {
        return List.of(copies);
    }

    @Override
    public Path machine(SandboxId id) {
        return run.resolve(id.value());
    }

    @Override
    public Path orphansOf(Path directory) {
        return workspaces.resolveSibling("orphans");
    }

    @Override
    public Optional<StoreId> storeOf(Path disk) {
        return Optional.empty();
    }

    @Override
    public void writeStore(Path disk, StoreId store) {}
}
