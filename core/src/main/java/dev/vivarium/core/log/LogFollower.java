package dev.vivarium.core.log;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import java.time.Duration;
import java.util.List;

/// Reader of one log that continues with new events: each event once, in order. Confined to one thread at a
/// time, except [#seq] and [#close].
public final class LogFollower implements AutoCloseable {
    /// Cost of an event for its reader besides its data, in bytes of the loop budget.
    private static final int EVENT_COST = 1024;

    private final EventLog log;
    private final LogId logId;
    private final LoopBudget budget = new LoopBudget();
    private volatile long seq;

    /// Whether all stored events have been read.
    private boolean isLive;

    LogFollower(EventLog log, LogId logId, long seq) {
        this.log = log;
        this.logId = logId;
        this.seq = seq;
    }

    LogId logId() {
        return logId;
    }

    /// Returns the number of the last event read, or the start position.
    public long seq() {
        return seq;
    }

    /// Returns the next events. Waits at most `timeout` for the first, and returns none at the timeout.
    public Batch next(Duration timeout) throws InterruptedException {
        budget.blocks();
        Batch batch = await(timeout);
        budget.spend(cost(batch.events()));
        return batch;
    }

    /// Releases the carrier permit of the reader. Call it before the events are sent, because sending can block.
    public void blocks() {
        budget.blocks();
    }

    /// Returns the cost of reading and sending these events, in bytes of the loop budget.
    static int cost(List<Event> events) {
        return events.stream()
                .mapToInt(event -> EVENT_COST + event.data().length())
                .sum();
    }

    private Batch await(Duration timeout) throws InterruptedException {
        if (!isLive) {
            Batch kept = kept();
            if (!kept.isEmpty()) {
                return kept;
            }
            isLive = true;
        }
        RecentEvents.Slice slice = log.recent(logId).after(seq, timeout);
        if (slice.events().isEmpty()) {
            return Batch.NOTHING;
        }
        // Memory no longer holds the next event, so read it from the store.
        return slice.from() > seq + 1 ? kept() : take(slice.events());
    }

    private Batch kept() {
        return take(log.page(logId, seq));
    }

    private Batch take(List<Event> events) {
        if (events.isEmpty()) {
            return Batch.NOTHING;
        }
        long missed = events.getFirst().seq() - seq - 1;
        seq = events.getLast().seq();
        return new Batch(events, missed);
    }

    @Override
    public void close() {
        log.leave(this);
    }
}
