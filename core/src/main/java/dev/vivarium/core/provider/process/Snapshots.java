package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SnapshotId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Set;

/// Snapshots of the directories of machines, as copies. Immutable.
record Snapshots(Path directory) {
    private static final String UNFINISHED = ".new";

    /// Saves a directory without writers. Returns the size of its files in bytes.
    long save(Path disk, SnapshotId snapshot) throws IOException {
        FileTrees.make(directory, "rwx------");
        copy(disk, path(snapshot));
        return FileTrees.size(path(snapshot));
    }

    void restore(SnapshotId snapshot, Path disk) throws IOException {
        if (!Files.exists(path(snapshot))) {
            throw new SandboxException(new Failure.ProviderFailed("restore a snapshot", snapshot + " is not here"));
        }
        copy(path(snapshot), disk);
    }

    void delete(SnapshotId snapshot) throws IOException {
        FileTrees.delete(path(snapshot));
        FileTrees.delete(unfinished(path(snapshot)));
    }

    Set<SnapshotId> all() throws IOException {
        var ids = new HashSet<SnapshotId>();
        if (Files.isDirectory(directory)) {
            try (var entries = Files.newDirectoryStream(directory)) {
                for (var entry : entries) {
                    var name = entry.getFileName().toString();
                    int dot = name.indexOf('.');
                    var id = dot < 0 ? name : name.substring(0, dot);
                    if (SnapshotId.isWellFormed(id)) {
                        ids.add(new SnapshotId(id));
                    }
                }
            }
        }
        return ids;
    }

    /// Replaces `to` after the copy is complete.
    private static void copy(Path from, Path to) throws IOException {
        var unfinished = unfinished(to);
        try {
            FileTrees.delete(unfinished);
            FileTrees.copy(from, unfinished);
            FileTrees.delete(to);
            Files.move(unfinished, to, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            FileTrees.delete(unfinished);
        }
    }

    /// Path of an incomplete copy of `path`.
    static Path unfinished(Path path) {
        return path.resolveSibling(path.getFileName() + UNFINISHED);
    }

    private Path path(SnapshotId snapshot) {
        return directory.resolve(snapshot.value());
    }
}
