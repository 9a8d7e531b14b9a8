package dev.vivarium.core.image;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Root file system that machines start from and never modify. Immutable.
///
/// @param root   its directory on the host
/// @param shared directories of the host that a machine sees, read-only
public record Image(String name, Path root, List<Shared> shared) {
    public Image {
        shared = List.copyOf(shared);
    }

    /// Directory of the host, and its mount point in a machine. Immutable.
    public record Shared(Path source, Path target) {
        static Shared inPlace(Path path) {
            return new Shared(path, path);
        }
    }

    /// Returns a copy with one more shared directory.
    Image with(String otherName, Shared more) {
        var all = new ArrayList<>(shared);
        all.add(more);
        return new Image(otherName, root, all);
    }
}
