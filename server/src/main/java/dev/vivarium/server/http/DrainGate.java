package dev.vivarium.server.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Counter of the requests in progress, which refuses new requests once it is shut. Thread-safe.
public final class DrainGate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();

    @GuardedBy("lock")
    private int inside;

    @GuardedBy("lock")
    private boolean shut;

    /// Reports whether the request may start. If so, the caller must call [#leave].
    boolean enter() {
        lock.lock();
        try {
            if (shut) {
                return false;
            }
            inside++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            if (--inside == 0) {
                empty.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    public boolean isShut() {
        lock.lock();
        try {
            return shut;
        } finally {
            lock.unlock();
        }
    }

    /// Refuses new requests and waits for the current ones. Reports whether all have ended.
    boolean shut(Duration timeout) {
        lock.lock();
        try {
            shut = true;
            long left = timeout.toNanos();
            while (inside > 0 && left > 0) {
                left = empty.awaitNanos(left);
            }
            return inside == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
