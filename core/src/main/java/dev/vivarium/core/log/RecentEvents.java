package dev.vivarium.core.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Event;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Newest events of a stream by position, for any number of readers with their own positions. Thread-safe.
///
/// It keeps no state for readers, so that a slow reader costs nothing. Events that a reader has not read in time are
/// dropped here; the store may still have them.
final class RecentEvents {
    private static final int MAX_EVENTS = 512;
    private static final int MAX_CHARACTERS = 1 << 20;

    /// Limits of one read: a blocked reader holds no more than this.
    static final int EVENTS_AT_ONCE = 128;

    static final int CHARACTERS_AT_ONCE = 128 * 1024;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();

    /// Positions have no gaps. `last` is the position of the newest event.
    @GuardedBy("lock")
    private final ArrayDeque<Event> events = new ArrayDeque<>();

    @GuardedBy("lock")
    private long last;

    @GuardedBy("lock")
    private long characters;

    /// Available events after a position.
    ///
    /// @param from position of the first event; a gap before it means that the reader is too late
    record Slice(long from, List<Event> events) {}

    /// Adds events; `position` is that of the first. If it does not continue the stream, drops the previous events.
    void add(long position, List<Event> newest) {
        lock.lock();
        try {
            if (position != last + 1) {
                events.clear();
                characters = 0;
            }
            last = position - 1;
            for (Event event : newest) {
                events.addLast(event);
                characters += event.data().length();
                last++;
            }
            while (events.size() > MAX_EVENTS || characters > MAX_CHARACTERS && events.size() > 1) {
                characters -= events.removeFirst().data().length();
            }
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Returns the position of the newest event, or zero.
    long last() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }

    /// Returns the events after `position`. Waits at most `timeout` for the first.
    Slice after(long position, Duration timeout) throws InterruptedException {
        lock.lock();
        try {
            long left = timeout.toNanos();
            while (last <= position && left > 0) {
                left = more.awaitNanos(left);
            }
            return sliceLocked(position);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Slice sliceLocked(long position) {
        long first = last - events.size() + 1;
        long from = Math.max(first, position + 1);
        var newest = new ArrayList<Event>();
        var newestFirst = events.descendingIterator();
        for (long at = last; at >= from; at--) {
            newest.add(newestFirst.next());
        }
        return new Slice(from, oldest(newest.reversed()));
    }

    /// Returns the first events, within the limits of one read, but at least one.
    private static List<Event> oldest(List<Event> events) {
        int count = 0;
        int room = CHARACTERS_AT_ONCE;
        while (count < Math.min(EVENTS_AT_ONCE, events.size()) && room > 0) {
            room -= events.get(count++).data().length();
        }
        return List.copyOf(events.subList(0, count));
    }
}
