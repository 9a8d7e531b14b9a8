package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.sandbox.SandboxesConfig.CapacityLimits;

/// Limits on the number of sandboxes and on the sum of their disk limits. Sandboxes of threads have priority; the pool
/// uses the rest. Thread-safe.
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

    Capacity(CapacityLimits room, long poolDiskBytes, DiskSpace space) {
        this.limit = room.sandboxes();
        this.poolTarget = room.poolSize();
        this.poolDiskBytes = poolDiskBytes;
        this.space = space;
    }

    /// Result of a request for a place.
    enum Entry {
        FULL,
        /// The sum of the disk limits exceeds the overcommit limit.
        OVERCOMMITTED,
        /// There is room.
        ENTERED,
        /// There is room if the pool removes a machine.
        ENTERED_BY_EVICTION
    }

    /// Takes a place for the sandbox of a thread, with a disk of this size.
    Entry enter(long diskBytes) {
        synchronized (lock) {
            if (active >= limit) {
                return Entry.FULL;
            }
            if (promisedLocked() + diskBytes > space.maxPromised()) {
                return Entry.OVERCOMMITTED;
            }
            active++;
            activeDiskBytes += diskBytes;
            return active + warm > limit ? Entry.ENTERED_BY_EVICTION : Entry.ENTERED;
        }
    }

    /// Takes a place for an existing sandbox, also beyond the limit.
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

    /// Sum of all disk limits, including the pool.
    long promisedDiskBytes() {
        synchronized (lock) {
            return promisedLocked();
        }
    }

    @GuardedBy("lock")
    private long promisedLocked() {
        return activeDiskBytes + warm * poolDiskBytes;
    }

    /// Takes a place for a machine of the pool, if the pool is not full and there is room.
    boolean enterPool() {
        synchronized (lock) {
            boolean isCrowded = warm >= poolTarget || active + warm >= limit;
            if (isCrowded || space.isLow() || promisedLocked() + poolDiskBytes > space.maxPromised()) {
                return false;
            }
            warm++;
            return true;
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
