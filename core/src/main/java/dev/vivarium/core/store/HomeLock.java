package dev.vivarium.core.store;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// One engine's claim on its home directory. Two engines on one home would remove each other's sandboxes as leftovers.
/// The kernel drops the claim with the process, however it ends. Thread-safe.
public final class HomeLock implements AutoCloseable {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    private final FileChannel channel;

    private HomeLock(FileChannel channel) {
        this.channel = channel;
    }

    /// Claims `home`, which is made for its owner alone if it is not there. Fails with `InvalidRequest` when
    /// another engine has it.
    public static HomeLock claim(Path home) {
        try {
            Files.createDirectories(home, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            var channel = FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (!isOurs(channel)) {
                channel.close();
                throw new SandboxException(new Failure.InvalidRequest(
                        "home", home + " is in use by another server or client; stop it, or choose another home"));
            }
            return new HomeLock(channel);
        } catch (IOException e) {
            throw new UncheckedIOException("claiming the home directory " + home, e);
        }
    }

    private static boolean isOurs(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException _) {
            return false; // An engine of this very process has it.
        }
    }

    /// Gives the home up. Idempotent.
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
