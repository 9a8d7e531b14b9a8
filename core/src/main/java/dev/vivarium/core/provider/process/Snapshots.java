package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SnapshotId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/// Snapshots of the directories of machines, as copies. Immutable.
record Snapshots(Path directory) {
    /// Saves a directory without writers. Returns the size of its files in bytes.
    long save(Path disk, SnapshotId snapshot) throws IOException {
        FileTrees.make(directory, "rwx------");
        FileTrees.replace(disk, path(snapshot));
        return FileTrees.size(path(snapshot));
    }

    void restore(SnapshotId snapshot, Path disk) throws IOException {
        if (!Files.exists(path(snapshot))) {
            throw new SandboxException(new Failure.ProviderFailed("restore a snapshot", snapshot + " is not here"));
        }
        FileTrees.replace(path(snapshot), disk);
    }

    void delete(SnapshotId snapshot) throws IOException {
        FileTrees.delete(path(snapshot));
        FileTrees.delete(FileTrees.unfinished(path(snapshot)));
    }

    Set<SnapshotId> all() throws IOException {
        return Files.isDirectory(directory)
                ? FileTrees.ids(directory, SnapshotId::isWellFormed, SnapshotId::new)
                : Set.of();
    }

    private Path path(SnapshotId snapshot) {
        return directory.resolve(snapshot.value());
    }
}
