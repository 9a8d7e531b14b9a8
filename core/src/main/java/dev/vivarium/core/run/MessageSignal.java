package dev.vivarium.core.run;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Signal for waiting threads. A signal between the check and the wait is not lost, because the waiter passes the count
/// that it read before the check. Thread-safe.
final class MessageSignal {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition counted = lock.newCondition();
    private long count;

    long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    void signal() {
        lock.lock();
        try {
            count++;
            counted.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until the count exceeds `seen`, or until `deadline` of `System.nanoTime`. Reports whether it does.
    boolean await(long seen, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (count == seen) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || !counted.await(left, TimeUnit.NANOSECONDS)) {
                    return count != seen;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
