package dev.vivarium.model;

import java.util.List;
import java.util.Optional;

/// Events of files in the workspace. Immutable.
public sealed interface FileEvent extends EventBody {
    enum Kind implements TextEnum {
        CREATED,
        MODIFIED,
        DELETED
    }

    /// @param file metadata, or nothing if it is unknown
    /// @param below number of paths that were deleted with a directory
    record Changed(Kind kind, String path, Optional<Metadata> file, int below, Diff diff) implements FileEvent {
        public Changed withDiff(Diff other) {
            return new Changed(kind, path, file, below, other);
        }
    }

    /// @param size zero unless the type is `FILE`
    record Metadata(FileEntry.Type type, long size, Optional<String> sha256) {}

    /// @param omitted whether the event would be too long with the text
    record Diff(Optional<String> text, boolean truncated, boolean omitted) {
        public static final Diff NONE = new Diff(Optional.empty(), false, false);
        public static final Diff OMITTED = new Diff(Optional.empty(), false, true);
    }

    /// Many changes at once.
    ///
    /// @param directories the directories with most changes
    /// @param incomplete whether the kernel dropped changes
    record Folded(int created, int modified, int deleted, List<String> directories, boolean incomplete)
            implements FileEvent {
        public Folded {
            directories = List.copyOf(directories);
        }
    }

    /// The tree has too many or too deep directories for a watch, so the server scans it from time to time.
    ///
    /// @param intervalSeconds time between two scans of a sandbox in use
    record WatchDegraded(int intervalSeconds) implements FileEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Changed changed -> "file." + changed.kind.text();
            case Folded _ -> "file.changes_folded";
            case WatchDegraded _ -> "file.watch_degraded";
        };
    }
}
