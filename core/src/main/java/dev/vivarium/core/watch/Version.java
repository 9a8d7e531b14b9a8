package dev.vivarium.core.watch;

import dev.vivarium.model.FileEntry;
import java.time.Instant;
import java.util.Optional;

/// State of a path from one event of the log on. Immutable.
///
/// Small text files include their content; other files have only metadata.
///
/// @param seq event that published the version
public record Version(
        String path,
        FileEntry.Type type,
        long size,
        Instant modified,
        Optional<String> sha256,
        Optional<String> content,
        long seq) {
    static Version of(FileEntry entry, String path) {
        return new Version(
                path,
                entry.type(),
                entry.type() == FileEntry.Type.FILE ? entry.size() : 0,
                entry.modified(),
                Optional.empty(),
                Optional.empty(),
                0);
    }

    boolean isDirectory() {
        return type == FileEntry.Type.DIRECTORY;
    }

    /// Reports whether the metadata is equal. For directories only the type counts, because every change inside
    /// alters their time.
    boolean hasMetadataOf(Version other) {
        return type == other.type && (isDirectory() || size == other.size && modified.equals(other.modified));
    }

    Version with(Content found) {
        return new Version(path, type, size, modified, found.sha256(), found.text(), seq);
    }

    Version withoutContent() {
        return new Version(path, type, size, modified, sha256, Optional.empty(), seq);
    }
}
