package dev.vivarium.core.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Event;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The newest events of a stream, by position, for as many readers as like: each has its own place and takes what
/// comes after it. Nothing is kept for a reader, so that a slow one costs nothing; what it has not read in time falls
/// out here, and is elsewhere or lost to it. Thread-safe.
final class RecentEvents {
    private static final int MOST_EVENTS = 512;
    private static final int MOST_CHARACTERS = 1 << 20;

    /// So much is given to a reader at once: one that is stuck holds no more than that.
    static final int EVENTS_AT_ONCE = 128;

    static final int CHARACTERS_AT_ONCE = 128 * 1024;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();

    /// Positions are without gaps; `last` is that of the newest.
    @GuardedBy("lock")
    private final ArrayDeque<Event> events = new ArrayDeque<>();

    @GuardedBy("lock")
    private long last;

    @GuardedBy("lock")
    private long characters;

    /// What is at hand after a position.
    ///
    /// @param from the position of the first of the events; a gap before it means that the reader is too late
    record Slice(long from, List<Event> events) {}

    /// Adds events, the first of which is at `position`. What does not continue the stream begins it anew.
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
            while (events.size() > MOST_EVENTS || characters > MOST_CHARACTERS && events.size() > 1) {
                characters -= events.removeFirst().data().length();
            }
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// The position of the newest event, zero before the first.
    long last() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }

    /// What comes after `position`; waits at most `patience` for the first of it.
    Slice after(long position, Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
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

    /// The first of them, as many as are given out at once; one at least.
    private static List<Event> oldest(List<Event> events) {
        int count = 0;
        int room = CHARACTERS_AT_ONCE;
        while (count < Math.min(EVENTS_AT_ONCE, events.size()) && room > 0) {
            room -= events.get(count++).data().length();
        }
        return List.copyOf(events.subList(0, count));
    }
}
