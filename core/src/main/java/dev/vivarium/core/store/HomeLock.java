package dev.vivarium.core.store;

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

    /// Maximum wait if the lock file is empty. The holder is an engine, or a watcher that has not written yet.
    private static final Duration ENGINE_TIMEOUT = Duration.ofMillis(300);

    /// Maximum wait for the orphan watcher, which needs less time to remove all machines of a full home.
    private static final Duration WATCHER_TIMEOUT = Duration.ofMinutes(2);

    private static final Duration RETRY_PAUSE = Duration.ofMillis(20);

    private final FileChannel channel;
    private final EarlierState earlierState;

    private HomeLock(FileChannel channel, EarlierState earlierState) {
        this.channel = channel;
        this.earlierState = earlierState;
    }

    /// State of the home directory before the claim.
    public enum EarlierState {
        ABSENT,
        EMPTY,
        NOT_EMPTY
    }

    /// Claims `home`. Creates the directory with mode 0700 if it does not exist. Waits while the orphan watcher of
    /// an earlier server holds the lock. Fails with `InvalidRequest` if another engine holds the lock.
    public static HomeLock claim(Path home) {
        try {
            boolean absent = Files.notExists(home);
            Files.createDirectories(home, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            var channel = FileChannel.open(home.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (!awaitClaim(channel)) {
                channel.close();
                throw SandboxException.invalid(
                        "home", home + " is in use by another server or client; stop it, or choose another home");
            }
            if (Files.notExists(home.resolve(NAME))) {
                channel.close();
                return claim(home); // Another engine failed to start and deleted the home.
            }
            channel.truncate(0);
            return new HomeLock(channel, earlierState(home, absent));
        } catch (IOException e) {
            throw new UncheckedIOException("claiming the home directory " + home, e);
        }
    }

    /// Retries until the lock is free or a timeout expires. While the orphan watcher holds the lock, the file has
    /// content; while an engine holds it, the file is empty.
    private static boolean awaitClaim(FileChannel channel) throws IOException {
        long began = System.nanoTime();
        while (!tryLock(channel)) {
            var longest = channel.size() > 0 ? WATCHER_TIMEOUT : ENGINE_TIMEOUT;
            if (System.nanoTime() - began > longest.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(RETRY_PAUSE.toNanos());
        }
        return true;
    }

    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException _) {
            return false; // Another engine in this process holds the lock.
        }
    }

    private static EarlierState earlierState(Path home, boolean absent) throws IOException {
        try (var entries = Files.list(home)) {
            boolean empty = entries.allMatch(entry -> entry.endsWith(NAME));
            return !empty ? EarlierState.NOT_EMPTY : absent ? EarlierState.ABSENT : EarlierState.EMPTY;
        }
    }

    public EarlierState earlierState() {
        return earlierState;
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
