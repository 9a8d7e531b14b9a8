package dev.vivarium.core.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Which events there were lately in all logs together, by position: far more than are kept in memory, and nothing but
/// their names, so that whoever missed some can be told which. Thread-safe.
final class PositionIndex {
    private static final int LENGTH = 1 << 15;

    @GuardedBy("this")
    private final SandboxId[] sandboxes = new SandboxId[LENGTH];

    @GuardedBy("this")
    private final long[] numbers = new long[LENGTH];

    /// The position of the newest.
    @GuardedBy("this")
    private long last;

    /// Adds events, the first of which is at `position`.
    synchronized void add(long position, List<Event> events) {
        last = position - 1;
        for (Event event : events) {
            last++;
            sandboxes[index(last)] = event.sandbox();
            numbers[index(last)] = event.seq();
        }
    }

    /// What there was from one position to another, both included, as far as it is known.
    synchronized LiveFeed.Missed between(long from, long to) {
        long first = Math.max(from, last - LENGTH + 1);
        Map<SandboxId, LiveFeed.Gap> gaps = new LinkedHashMap<>();
        for (long at = first; at <= to; at++) {
            long seq = numbers[index(at)];
            SandboxId sandbox = sandboxes[index(at)];
            gaps.merge(sandbox, new LiveFeed.Gap(sandbox, seq - 1, seq), LiveFeed.Gap::upTo);
        }
        return new LiveFeed.Missed(List.copyOf(gaps.values()), first == from);
    }

    private static int index(long position) {
        return (int) (position % LENGTH);
    }
}
