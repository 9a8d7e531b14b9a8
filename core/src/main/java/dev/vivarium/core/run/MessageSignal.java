package dev.vivarium.core.run;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Wakes who waits for something to be there. A ring between the look and the wait is not lost: the waiter says how
/// many it had heard when it looked. Thread-safe.
final class MessageSignal {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    private long rings;

    long heard() {
        lock.lock();
        try {
            return rings;
        } finally {
            lock.unlock();
        }
    }

    void ring() {
        lock.lock();
        try {
            rings++;
            rung.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for a ring after the first `heard`, at most until `deadline` of the nano clock. Reports whether there
    /// was one.
    boolean await(long heard, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (rings == heard) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || !rung.await(left, TimeUnit.NANOSECONDS)) {
                    return rings != heard;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
