package dev.vivarium.core.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Index of recent events of all logs by position. Thread-safe.
///
/// It covers far more events than memory holds, but only their logs and numbers, to report which events a reader
/// missed.
final class PositionIndex {
    private static final int LENGTH = 1 << 15;

    @GuardedBy("this")
    private final LogId[] logs = new LogId[LENGTH];

    @GuardedBy("this")
    private final long[] numbers = new long[LENGTH];

    /// Position of the newest event.
    @GuardedBy("this")
    private long last;

    /// Adds events; `position` is that of the first.
    synchronized void add(long position, List<Event> events) {
        last = position - 1;
        for (Event event : events) {
            last++;
            logs[index(last)] = event.logId();
            numbers[index(last)] = event.seq();
        }
    }

    /// Returns the events between two positions, both included, as far as the index covers them.
    synchronized LiveFeed.Missed between(long from, long to) {
        long first = Math.max(from, last - LENGTH + 1);
        Map<LogId, LiveFeed.Gap> gaps = new LinkedHashMap<>();
        for (long at = first; at <= to; at++) {
            long seq = numbers[index(at)];
            LogId logId = logs[index(at)];
            gaps.merge(logId, new LiveFeed.Gap(logId, seq - 1, seq), LiveFeed.Gap::upTo);
        }
        return new LiveFeed.Missed(List.copyOf(gaps.values()), first == from);
    }

    private static int index(long position) {
        return (int) (position % LENGTH);
    }
}
