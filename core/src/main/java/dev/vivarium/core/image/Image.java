package dev.vivarium.core.image;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A root file system that machines start from and never change. Immutable.
///
/// @param root   its directory on the host
/// @param shared directories of the host that a machine sees, read-only
public record Image(String name, Path root, List<Shared> shared) {
    public Image {
        shared = List.copyOf(shared);
    }

    /// A directory of the host, and where a machine sees it. Immutable.
    public record Shared(Path source, Path target) {
        static Shared inPlace(Path path) {
            return new Shared(path, path);
        }
    }

    /// This image with one more directory in it.
    Image with(String otherName, Shared more) {
        var all = new ArrayList<>(shared);
        all.add(more);
        return new Image(otherName, root, all);
    }
}
