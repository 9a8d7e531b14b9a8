package dev.vivarium.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Bounded queue whose entries one critical thread handles in groups, such as one transaction for each group.
/// Thread-safe.
///
/// The handler receives a list with the oldest entry. It calls [#fill] or [#fillUntil] as late as it can, so that
/// entries that arrive meanwhile join the group. The handler must complete the callers of a group also if it throws,
/// because the thread then continues with the next group.
public final class GroupQueue<T> {
    private final BlockingQueue<T> queue;
    private final int max;
    private final Consumer<List<T>> handler;
    private final Thread worker;
    private volatile boolean closed;

    /// Wakes the worker when the queue closes. Invisible to callers and to the handler.
    @SuppressWarnings("unchecked")
    private final T stop = (T) new Object();

    /// @param max maximum size of a group
    public GroupQueue(String name, int capacity, int max, Consumer<List<T>> handler) {
        this.queue = new ArrayBlockingQueue<>(capacity);
        this.max = max;
        this.handler = handler;
        this.worker = CriticalThread.start(name, this::run);
    }

    /// Queues an entry. Returns false if the queue is closed, or stays full for `nanos`; the handler then never
    /// gets the entry.
    public boolean offer(T entry, long nanos) throws InterruptedException {
        return !closed && queue.offer(entry, nanos, TimeUnit.NANOSECONDS) && isKept(entry);
    }

    /// Like [#offer(Object, long)] without a wait.
    public boolean offer(T entry) {
        return !closed && queue.offer(entry) && isKept(entry);
    }

    /// The worker may have ended between the check and the offer. In that case, it never takes the entry.
    private boolean isKept(T entry) {
        return !(closed && queue.remove(entry));
    }

    public boolean isEmpty() {
        return queue.isEmpty();
    }

    public boolean isClosed() {
        return closed;
    }

    /// Returns the free space of the queue, in entries.
    public int room() {
        return queue.remainingCapacity();
    }

    /// Adds the queued entries to a group. For the handler.
    public void fill(List<T> group) {
        queue.drainTo(group, max - group.size());
        removeStop(group);
    }

    /// Waits for entries and adds them to a group. Returns false if none arrived before the time. For the handler.
    public boolean fillUntil(long nanoTime, List<T> group) {
        int before = group.size();
        try {
            T next = queue.poll(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (next != null) {
                group.add(next);
                fill(group);
            }
        } catch (InterruptedException e) {
            // Only close() ends the worker.
        }
        return group.size() > before;
    }

    private void run() {
        var group = new ArrayList<T>(max);
        while (!closed || !queue.isEmpty()) {
            try {
                group.add(queue.take());
            } catch (InterruptedException e) {
                continue; // Only close() ends the worker.
            }
            removeStop(group);
            if (!group.isEmpty()) {
                handler.accept(group);
            }
            group.clear();
        }
    }

    private void removeStop(List<T> group) {
        if (closed) {
            group.remove(stop);
        }
    }

    /// Handles the queued entries, then ends the worker. Waits for the worker, with a timeout, even if interrupted.
    /// Idempotent.
    public void close(Duration timeout) {
        closed = true;
        // In a full queue, the worker finds an entry, and then `closed`.
        queue.offer(stop);
        boolean interrupted = false;
        while (true) {
            try {
                worker.join(timeout);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
