package dev.vivarium.core.log;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import java.time.Duration;
import java.util.List;

/// Live feed of the events of all logs. Confined to one thread at a time.
///
/// A slow reader receives the gaps that it missed, and can read them from the logs.
public final class LiveFeed {
    private final RecentEvents everything;
    private final PositionIndex trail;
    private final LoopBudget budget = new LoopBudget();
    private long position;

    LiveFeed(RecentEvents everything, PositionIndex trail) {
        this.everything = everything;
        this.trail = trail;
        this.position = everything.last();
    }

    /// Events in commit order, and the gaps before them. Immutable.
    public record FeedPage(Missed missed, List<Event> events) {
        static final FeedPage NOTHING = new FeedPage(Missed.NOTHING, List.of());
    }

    /// Events that a reader missed.
    ///
    /// @param isComplete whether `gaps` covers all of them; false if some are too old to be known
    public record Missed(List<Gap> gaps, boolean isComplete) {
        static final Missed NOTHING = new Missed(List.of(), true);
    }

    /// Range of missed events of one log: after `afterSeq`, up to and including `untilSeq`.
    public record Gap(LogId logId, long afterSeq, long untilSeq) {
        Gap upTo(Gap later) {
            return new Gap(logId, afterSeq, later.untilSeq);
        }

        public long events() {
            return untilSeq - afterSeq;
        }
    }

    /// Returns the next events. Waits at most `timeout` for the first, and returns none at the timeout.
    public FeedPage next(Duration timeout) throws InterruptedException {
        budget.blocks();
        RecentEvents.Slice slice = everything.after(position, timeout);
        budget.spend(LogFollower.cost(slice.events()));
        if (slice.events().isEmpty()) {
            return FeedPage.NOTHING;
        }
        Missed missed = slice.from() > position + 1 ? trail.between(position + 1, slice.from() - 1) : Missed.NOTHING;
        position = slice.from() + slice.events().size() - 1;
        return new FeedPage(missed, slice.events());
    }
}
