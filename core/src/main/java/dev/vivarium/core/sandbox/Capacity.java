package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// The count of sandboxes there may be. Sandboxes of threads come first; the pool has what they leave. Thread-safe.
final class Capacity {
    private final int limit;
    private final int poolTarget;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private int active;

    @GuardedBy("lock")
    private int warm;

    Capacity(int limit, int poolTarget) {
        this.limit = limit;
        this.poolTarget = poolTarget;
    }

    /// What taking a place means for the pool.
    enum Entry {
        FULL,
        /// There is room.
        ENTERED,
        /// There is room if the pool gives up a machine.
        ENTERED_BY_SACRIFICE
    }

    /// Takes a place for a thread's sandbox.
    Entry enter() {
        synchronized (lock) {
            if (active >= limit) {
                return Entry.FULL;
            }
            active++;
            return active + warm > limit ? Entry.ENTERED_BY_SACRIFICE : Entry.ENTERED;
        }
    }

    /// Takes a place for a sandbox that exists already, whatever the limit says now.
    void adopt() {
        synchronized (lock) {
            active++;
        }
    }

    void leave() {
        synchronized (lock) {
            active--;
        }
    }

    /// Takes a place for a machine of the pool, if the pool wants one and there is room.
    boolean enterPool() {
        synchronized (lock) {
            if (warm >= poolTarget || active + warm >= limit) {
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
