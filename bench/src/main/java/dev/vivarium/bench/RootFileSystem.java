package dev.vivarium.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Root file system that the sandboxes and the Docker containers share. Immutable.
///
/// It is built once and kept in the user's cache.
///
/// @param image     its name for `viv`
/// @param directory its directory, or nothing if it is a view of this machine that a container cannot use
record RootFileSystem(String image, Optional<Path> directory) {
    private static final String DEBIAN = "debian";

    /// Finds the `debian` image in the cache or builds it. If it cannot be built, it uses `host`.
    static RootFileSystem prepare(Path launcher) {
        Path cache = cache();
        Path debian = cache.resolve("images").resolve(DEBIAN);
        if (!Files.isDirectory(debian) && Programs.find("mmdebstrap").isPresent()) {
            System.err.println("building the image debian in " + cache + ", once; this takes a minute or two");
            Programs.run(List.of(launcher.toString(), "image", "build", DEBIAN, "--home", cache.toString()));
        }
        if (Files.isDirectory(debian)) {
            return new RootFileSystem(DEBIAN, Optional.of(debian));
        }
        System.err.println("no mmdebstrap on this machine (Debian: apt-get install mmdebstrap):"
                + " measuring on the image host, with no Docker Engine beside it");
        return new RootFileSystem("host", Optional.empty());
    }

    private static Path cache() {
        String base = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
        Path caches = base.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(base);
        return caches.resolve("vivarium/bench");
    }

    /// Links it into a new home without a copy.
    void showIn(Path home) throws IOException {
        if (directory.isPresent()) {
            Path images = Files.createDirectory(home.resolve("images"));
            Files.createSymbolicLink(images.resolve(image), directory.get());
        }
    }
}
