package dev.vivarium.sdk.local;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.store.HomeLock;
import dev.vivarium.sdk.engine.LocalConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/// Home directory of a local engine: a directory of the caller, or a temporary one that is deleted with the engine.
/// Thread-safe.
final class Home implements AutoCloseable {
    private final Path directory;
    private final HomeLock lock;
    private final boolean temporary;

    private Home(Path directory, HomeLock lock, boolean temporary) {
        this.directory = directory;
        this.lock = lock;
        this.temporary = temporary;
    }

    static Home of(LocalConfig config) {
        try {
            Path directory = directory(config.home());
            return new Home(directory, HomeLock.claim(directory), config.home().isEmpty());
        } catch (IOException e) {
            throw new UncheckedIOException("making the home directory", e);
        }
    }

    private static Path directory(Optional<Path> wanted) throws IOException {
        var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        return wanted.isPresent()
                ? Files.createDirectories(wanted.get().toAbsolutePath(), ours)
                : Files.createTempDirectory("viv", ours);
    }

    Path directory() {
        return directory;
    }

    @Override
    public void close() {
        lock.close();
        if (temporary) {
            try {
                FileTrees.delete(directory);
            } catch (IOException e) {
                throw new UncheckedIOException("removing " + directory, e);
            }
        }
    }
}
