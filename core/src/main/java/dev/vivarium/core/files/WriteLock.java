package dev.vivarium.core.files;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// Lock that serializes changes to the files of one sandbox through the server. Thread-safe.
///
/// It makes the check of a [WriteCondition] and the change atomic among clients of the server. Processes inside the
/// sandbox do not take it.
///
/// One lock covers the whole workspace, because two paths can lead to one file through a symbolic link. The guest has
/// a single loop anyway. This is the only lock that is held during a call to the guest. Only the last step of a change
/// holds it, never the transfer of bytes.
public final class WriteLock {
    private final ReentrantLock lock = new ReentrantLock();

    <T> T take(Supplier<T> change) {
        lock.lock();
        try {
            return change.get();
        } finally {
            lock.unlock();
        }
    }
}
