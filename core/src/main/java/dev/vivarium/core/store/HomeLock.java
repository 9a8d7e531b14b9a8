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
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/// Exclusive lock of an engine on its home directory. Thread-safe.
///
/// Two engines on one home would remove each other's sandboxes as orphans. The kernel releases the lock when the
/// process ends, in any way.
public final class HomeLock implements AutoCloseable {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    private static final String NAME = "lock";
    private static final Duration MOMENT = Duration.ofMillis(300);
    /// Exceeds the time that the orphan watcher needs to remove the machines of a crowded home.
    private static final Duration WATCHER = Duration.ofMinutes(2);
    private static final Duration RETRY = Duration.ofMillis(20);

    private final FileChannel channel;
    private final Before before;

    private HomeLock(FileChannel channel, Before before) {
        this.channel = channel;
        this.before = before;
    }

    /// State of the home before the claim.
    public enum Before {
        ABSENT,
        EMPTY,
        IN_USE
    }

    /// Claims `home`, and creates it for its owner alone if it is missing. Waits while the orphan watcher of an
    /// earlier server holds the lock. Fails with `InvalidRequest` if another engine holds it.
    public static HomeLock claim(Path home) {
        try {
            boolean absent = Files.notExists(home);
            Files.createDirectories(home, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            var channel = FileChannel.open(home.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (!awaitClaim(channel)) {
                channel.close();
                throw new SandboxException(new Failure.InvalidRequest(
                        "home", home + " is in use by another server or client; stop it, or choose another home"));
            }
            if (Files.notExists(home.resolve(NAME))) {
                channel.close();
                return claim(home); // An engine that failed to start has removed the home meanwhile.
            }
            channel.truncate(0);
            return new HomeLock(channel, before(home, absent));
        } catch (IOException e) {
            throw new UncheckedIOException("claiming the home directory " + home, e);
        }
    }

    /// The orphan watcher writes to the file while it holds the lock; an engine does not. The watcher locks shortly
    /// before it writes.
    private static boolean awaitClaim(FileChannel channel) throws IOException {
        long began = System.nanoTime();
        while (!isOurs(channel)) {
            var longest = channel.size() > 0 ? WATCHER : MOMENT;
            if (System.nanoTime() - began > longest.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(RETRY.toNanos());
        }
        return true;
    }

    private static boolean isOurs(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException _) {
            return false; // Another engine in this process holds the lock.
        }
    }

    private static Before before(Path home, boolean absent) throws IOException {
        try (var entries = Files.list(home)) {
            boolean empty = entries.allMatch(entry -> entry.endsWith(NAME));
            return !empty ? Before.IN_USE : absent ? Before.ABSENT : Before.EMPTY;
        }
    }

    public Before before() {
        return before;
    }

    /// Releases the home. Idempotent.
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
