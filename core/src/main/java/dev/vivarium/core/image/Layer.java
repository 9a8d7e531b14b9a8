package dev.vivarium.core.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// What is laid over the image `host`: one directory that a machine sees at [#PLACE], and nothing else. The host's own
/// part is looked up at each start, so that a layer outlives updates of the host. Stateless.
final class Layer {
    /// A file in the layer's directory that tells it from a root file system; it also says what is in it.
    static final String MARKER = ".vivarium-layer";

    /// Where a machine sees it.
    static final Path PLACE = Path.of("/opt/vivarium");

    private Layer() {}

    static boolean isAt(Path directory) {
        return Files.isRegularFile(directory.resolve(MARKER), LinkOption.NOFOLLOW_LINKS);
    }

    static Image over(Image host, String name, Path directory) throws IOException {
        // With the real path: a layer that several homes share is a link in them.
        return host.with(name, new Image.Shared(content(directory).toRealPath(), PLACE));
    }

    /// The part of a layer's directory that a machine sees.
    static Path content(Path directory) {
        return directory.resolve(PLACE.toString().substring(1));
    }

    /// Writes the marker, last: a layer without it is none.
    static void mark(Path directory, String contents) throws IOException {
        Skeleton.file(directory.resolve(MARKER), contents);
    }
}
