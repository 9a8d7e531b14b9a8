package dev.vivarium.core.watch;

import dev.vivarium.model.FileEntry;
import java.time.Instant;
import java.util.Optional;

/// Something in a workspace as it was from one event of the log on. Small text is kept; of anything else only what it
/// was. Immutable.
///
/// @param seq the event that told of it
public record Version(
        String path,
        FileEntry.Type type,
        long size,
        Instant modified,
        Optional<String> sha256,
        Optional<String> content,
        long seq) {
    /// What a listing or a look at it says.
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

    /// Reports whether it looks as it did then. A directory has a new time whenever something in it does.
    boolean looksLike(Version other) {
        return type == other.type && (isDirectory() || size == other.size && modified.equals(other.modified));
    }

    Version with(Content found) {
        return new Version(path, type, size, modified, found.sha256(), found.text(), seq);
    }

    Version at(long event) {
        return new Version(path, type, size, modified, sha256, content, event);
    }

    Version withoutContent() {
        return new Version(path, type, size, modified, sha256, Optional.empty(), seq);
    }
}
