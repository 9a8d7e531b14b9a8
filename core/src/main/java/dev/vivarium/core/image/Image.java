package dev.vivarium.core.image;

import java.nio.file.Path;
import java.util.List;

/// A root file system that machines start from and never change. Immutable.
///
/// @param root   its directory on the host
/// @param shared directories of the host that a machine sees, read-only, under the same path
public record Image(String name, Path root, List<Path> shared) {
    public Image {
        shared = List.copyOf(shared);
    }
}
