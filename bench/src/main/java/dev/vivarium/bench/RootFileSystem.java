package dev.vivarium.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The root file system that our sandboxes and the Docker containers share. It is made once and kept in the user's
/// cache. Immutable.
///
/// @param image     its name for `viv`
/// @param directory where it lies, or nothing when it is a view of this machine that no container could use
record RootFileSystem(String image, Optional<Path> directory) {
    private static final String DEBIAN = "debian";

    /// Finds the `debian` image in the cache or builds it; without the means to build it, falls back to `host`.
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

    /// Lets a new home see it, without a copy.
    void showIn(Path home) throws IOException {
        if (directory.isPresent()) {
            Path images = Files.createDirectory(home.resolve("images"));
            Files.createSymbolicLink(images.resolve(image), directory.get());
        }
    }
}
