package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.sandbox.SandboxesConfig.Room;

/// The count of sandboxes there may be, and the sum of their disk limits. Sandboxes of threads come first; the pool has
/// what they leave. Thread-safe.
final class Capacity {
    private final int limit;
    private final int poolTarget;
    private final long poolDiskBytes;
    private final DiskSpace space;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private int active;

    @GuardedBy("lock")
    private int warm;

    /// The sum of the disk limits of the active sandboxes.
    @GuardedBy("lock")
    private long activeDiskBytes;

    Capacity(Room room, long poolDiskBytes, DiskSpace space) {
        this.limit = room.sandboxes();
        this.poolTarget = room.poolSize();
        this.poolDiskBytes = poolDiskBytes;
        this.space = space;
    }

    /// What taking a place means for the pool.
    enum Entry {
        FULL,
        /// The disks there are may take all the disk space that the overcommit factor allows.
        OVERCOMMITTED,
        /// There is room.
        ENTERED,
        /// There is room if the pool gives up a machine.
        ENTERED_BY_SACRIFICE
    }

    /// Takes a place for a thread's sandbox with a disk of this size.
    Entry enter(long diskBytes) {
        synchronized (lock) {
            if (active >= limit) {
                return Entry.FULL;
            }
            if (promisedLocked() + diskBytes > space.mostPromised()) {
                return Entry.OVERCOMMITTED;
            }
            active++;
            activeDiskBytes += diskBytes;
            return active + warm > limit ? Entry.ENTERED_BY_SACRIFICE : Entry.ENTERED;
        }
    }

    /// Takes a place for a sandbox that exists already, whatever the limit says now.
    void adopt(long diskBytes) {
        synchronized (lock) {
            active++;
            activeDiskBytes += diskBytes;
        }
    }

    void leave(long diskBytes) {
        synchronized (lock) {
            active--;
            activeDiskBytes -= diskBytes;
        }
    }

    /// The sum of all disk limits, the pool's included.
    long promisedDiskBytes() {
        synchronized (lock) {
            return promisedLocked();
        }
    }

    @GuardedBy("lock")
    private long promisedLocked() {
        return activeDiskBytes + warm * poolDiskBytes;
    }

    /// Takes a place for a machine of the pool, if the pool wants one and there is room.
    boolean enterPool() {
        synchronized (lock) {
            boolean isCrowded = warm >= poolTarget || active + warm >= limit;
            if (isCrowded || space.isLow() || promisedLocked() + poolDiskBytes > space.mostPromised()) {
                return false;
            }
            warm++;
            return true;
        }
    }

    /// Takes a place for a machine that had one a moment ago, also if another has been started for it.
    void returnToPool() {
        synchronized (lock) {
            warm++;
        }
    }

    void leavePool() {
        synchronized (lock) {
            warm--;
        }
    }

    int active() {
        synchronized (lock) {
            return active;
        }
    }

    int limit() {
        return limit;
    }
}
