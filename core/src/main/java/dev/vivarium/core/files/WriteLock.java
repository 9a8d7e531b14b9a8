package dev.vivarium.core.files;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// Lets those who change the files of one sandbox through the server do so one after the other, so that nothing of
/// theirs comes between the check of a [WriteCondition] and the change. Processes inside the sandbox do not wait for
/// it. Thread-safe.
///
/// One turn for the whole workspace, not one for each path: two paths can lead to one file by a symbolic link, and the
/// guest has a single loop anyway. It is the one lock that is held across a call to the guest, since that is its use;
/// only the last step of a change is taken in turn, never the arrival of its bytes.
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
