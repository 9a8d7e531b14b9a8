package dev.vivarium.core.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// Layer over the image `host`: one directory that a machine sees at [#PLACE]. Stateless.
///
/// The host part is resolved at each start, so that a layer stays valid when the host is updated.
final class Layer {
    /// File that distinguishes a layer from a root file system. It lists the content of the layer.
    static final String MARKER = ".vivarium-layer";

    /// Mount point in a machine.
    static final Path PLACE = Path.of("/opt/vivarium");

    private Layer() {}

    static boolean isAt(Path directory) {
        return Files.isRegularFile(directory.resolve(MARKER), LinkOption.NOFOLLOW_LINKS);
    }

    static Image over(Image host, String name, Path directory) throws IOException {
        // The real path, because a layer that several homes share is a symbolic link.
        return host.with(name, new Image.Shared(content(directory).toRealPath(), PLACE));
    }

    /// Returns the part of a layer's directory that a machine sees.
    static Path content(Path directory) {
        return directory.resolve(PLACE.toString().substring(1));
    }

    /// Writes the marker. Call it last: a directory without the marker is not a layer.
    static void mark(Path directory, String contents) throws IOException {
        Skeleton.file(directory.resolve(MARKER), contents);
    }
}
