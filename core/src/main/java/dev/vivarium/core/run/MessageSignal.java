package dev.vivarium.core.run;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Signal for waiting threads. A signal between the check and the wait is not lost, because the waiter passes the count
/// that it read before the check. Thread-safe.
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

    /// Waits until the count exceeds `heard`, or until `deadline` of `System.nanoTime`. Reports whether it does.
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
