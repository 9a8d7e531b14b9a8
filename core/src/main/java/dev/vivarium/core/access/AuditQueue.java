package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Audit entries that wait to be written, in order. Thread-safe.
///
/// Each principal has its own share, so that one principal cannot displace the entries of another. The queue folds
/// equal entries if they are foldable. Beyond the share, it folds them without their target, and it delays the caller
/// of any other entry for up to a second. It therefore drops no entry. While the store fails, the queue of a principal
/// grows by one entry a second for each of its concurrent requests at most.
final class AuditQueue {
    static final int SHARE = 1024;

    private static final Duration DELAY = Duration.ofSeconds(1);

    /// Time to wait for more entries, because a commit costs the same for one entry as for many.
    private static final Duration GATHER = Duration.ofMillis(100);

    private final ReentrantLock lock = new ReentrantLock();

    /// The queue is not empty, or closed.
    private final Condition filled = lock.newCondition();

    /// A reader waits, or the queue is closed.
    private final Condition urgent = lock.newCondition();

    /// The worker has taken or written entries, or the queue is closed.
    private final Condition progress = lock.newCondition();

    /// By what equal entries have in common, or by a unique object for an entry that is not foldable. In the order
    /// of the entries.
    private final Map<Object, Pending> pending = new LinkedHashMap<>();

    private final Map<Optional<UserId>, Integer> shares = new HashMap<>();
    private long added;
    private long written;
    private int readers;
    private boolean closed;

    /// Entry that stands for `count` equal ones. Immutable.
    ///
    /// @param position number of the entry in the order of the queue
    record Pending(long position, AuditEntry entry, long count, Instant last) {
        private Pending and(AuditEntry next) {
            return new Pending(position, entry, count + 1, next.at());
        }
    }

    /// Adds an entry. Returns false if the queue is closed.
    boolean add(AuditEntry entry) {
        lock.lock();
        try {
            boolean isFull = shares.getOrDefault(entry.user(), 0) >= SHARE;
            if (entry.isFoldable()) {
                boolean isNew = !pending.containsKey(entry.withoutTime());
                var kept = isNew && isFull ? entry.withoutTarget() : entry;
                return put(kept.withoutTime(), kept);
            }
            if (isFull) {
                awaitRoom(entry.user());
            }
            return put(new Object(), entry);
        } finally {
            lock.unlock();
        }
    }

    private boolean put(Object key, AuditEntry entry) {
        if (closed) {
            return false;
        }
        Pending known = pending.get(key);
        if (known == null) {
            shares.merge(entry.user(), 1, Integer::sum);
            pending.put(key, new Pending(++added, entry, 1, entry.at()));
            filled.signal();
        } else {
            pending.put(key, known.and(entry));
        }
        return true;
    }

    private void awaitRoom(Optional<UserId> user) {
        long left = DELAY.toNanos();
        while (!closed && left > 0 && shares.getOrDefault(user, 0) >= SHARE) {
            left = await(progress, left);
        }
    }

    /// Returns the next entries, at most `max`. Empty if the queue is closed and empty.
    List<Pending> take(int max) {
        lock.lock();
        try {
            while (pending.isEmpty() && !closed) {
                filled.awaitUninterruptibly();
            }
            for (long left = GATHER.toNanos(); left > 0 && readers == 0 && !closed; ) {
                left = await(urgent, left);
            }
            return remove(max);
        } finally {
            lock.unlock();
        }
    }

    private List<Pending> remove(int max) {
        var taken = new ArrayList<Pending>();
        for (var all = pending.values().iterator(); all.hasNext() && taken.size() < max; all.remove()) {
            Pending next = all.next();
            taken.add(next);
            shares.computeIfPresent(next.entry.user(), (_, count) -> count == 1 ? null : count - 1);
        }
        progress.signalAll();
        return taken;
    }

    /// Reports that the taken entries are in the store, or lost.
    void done(List<Pending> taken) {
        lock.lock();
        try {
            written = taken.getLast().position();
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until all entries that were added so far are done.
    void flush(Duration timeout) {
        lock.lock();
        readers++;
        try {
            long all = added;
            urgent.signalAll();
            for (long left = timeout.toNanos(); left > 0 && written < all; ) {
                left = await(progress, left);
            }
        } finally {
            readers--;
            lock.unlock();
        }
    }

    /// Waits before a retry. The wait ends early if a reader waits or the queue closes.
    void pause(Duration max) {
        lock.lock();
        try {
            int waiting = readers;
            for (long left = max.toNanos(); left > 0 && readers <= waiting && !closed; ) {
                left = await(urgent, left);
            }
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            filled.signalAll();
            urgent.signalAll();
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for a change. Returns the rest of the time; none if the thread is interrupted.
    private static long await(Condition condition, long nanos) {
        try {
            return condition.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }
}
