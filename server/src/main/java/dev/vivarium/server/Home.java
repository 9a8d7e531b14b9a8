package dev.vivarium.server;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/// The data directory in the hands of one process: two servers on one home would end each other's sandboxes. The kernel
/// gives it back when the process dies. Thread-safe.
final class Home implements AutoCloseable {
    private final FileChannel lock;

    private Home(FileChannel lock) {
        this.lock = lock;
    }

    /// Makes the directory if need be, for its owner alone, and holds it until closed.
    static Home occupy(Path directory) {
        try {
            var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
            Files.createDirectories(directory, ours);
            var lock = FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (isTaken(lock)) {
                lock.close();
                throw new SandboxException(new Failure.ProviderFailed(
                        "use the home " + directory, "a server runs on it; stop it first, or choose another --home"));
            }
            return new Home(lock);
        } catch (IOException e) {
            throw new UncheckedIOException("using the home directory " + directory, e);
        }
    }

    private static boolean isTaken(FileChannel lock) throws IOException {
        try {
            return lock.tryLock() == null;
        } catch (OverlappingFileLockException e) {
            return true;
        }
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException("leaving the home directory", e);
        }
    }
}
