package dev.vivarium.core.provider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Disks and snapshots without a row in the store. They are kept for some days, so that a store that lost rows causes
/// no data loss. Thread-safe; one caller at a time for each id.
///
/// ```
/// orphans/ID.ext4, orphans/ID  the image or the directory; in the annex if it was there
/// orphans/ID.label             its label
/// orphans/ID.since             when it was moved here
/// ```
///
/// @param directory `orphans/` of the home
record Orphans(Path directory) {
    private static final String SINCE = ".since";

    /// The disk is last: until it is moved, the next attempt finds it in its old directory.
    private static final List<String> SUFFIXES = List.of(Label.SUFFIX, ".ext4", "");

    /// Directory of disks or snapshots, with the directory for its orphans in the same file system.
    record Location(Path files, Path orphans) {}

    /// Moves all files of `id` to `orphans/`.
    void add(String id, List<Location> locations, Instant now) throws IOException {
        FileTrees.make(directory, "rwx------");
        Files.writeString(since(id), now + "\n");
        for (var location : locations) {
            move(id, location.files(), location.orphans());
        }
    }

    /// Moves all files of `id` back.
    void restoreOrphan(String id, List<Location> locations) throws IOException {
        for (var location : locations) {
            move(id, location.orphans(), location.files());
        }
        Files.deleteIfExists(since(id));
    }

    private static void move(String id, Path from, Path to) throws IOException {
        for (var suffix : SUFFIXES) {
            var file = from.resolve(id + suffix);
            if (Files.exists(file)) {
                FileTrees.make(to, "rwx------");
                Files.move(
                        file,
                        to.resolve(id + suffix),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    Set<String> all() throws IOException {
        var ids = new HashSet<String>();
        if (Files.isDirectory(directory)) {
            try (var entries = Files.newDirectoryStream(directory, "*" + SINCE)) {
                for (var entry : entries) {
                    var name = entry.getFileName().toString();
                    ids.add(name.substring(0, name.length() - SINCE.length()));
                }
            }
        }
        return ids;
    }

    boolean isOlder(String id, Instant time) throws IOException {
        try {
            return Instant.parse(Files.readString(since(id)).strip()).isBefore(time);
        } catch (DateTimeParseException e) {
            // The server was killed while it wrote the time.
            return Files.getLastModifiedTime(since(id)).toInstant().isBefore(time);
        }
    }

    void delete(String id, List<Location> locations) throws IOException {
        for (var location : locations) {
            for (var suffix : SUFFIXES.reversed()) {
                FileTrees.delete(location.orphans().resolve(id + suffix));
            }
        }
        Files.deleteIfExists(since(id));
    }

    Path label(String id) {
        return directory.resolve(id + Label.SUFFIX);
    }

    private Path since(String id) {
        return directory.resolve(id + SINCE);
    }
}
