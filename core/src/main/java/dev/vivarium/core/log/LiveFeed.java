package dev.vivarium.core.log;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.List;

/// Hears of what happens to all sandboxes, live only: one that is too slow is told what it missed, and finds it in the
/// logs of the sandboxes. Confined to one worker at a time.
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

    /// Events in the order in which they became durable, and what there was before them that came too fast.
    /// Immutable.
    public record Heard(Missed missed, List<Event> events) {
        static final Heard NOTHING = new Heard(Missed.NOTHING, List.of());
    }

    /// What a listener did not hear.
    ///
    /// @param isComplete whether the gaps are all there were; if not, it was too long ago to tell
    public record Missed(List<Gap> gaps, boolean isComplete) {
        static final Missed NOTHING = new Missed(List.of(), true);
    }

    /// Events of one log: those after one number, up to and including another.
    public record Gap(SandboxId sandbox, long afterSeq, long untilSeq) {
        Gap upTo(Gap later) {
            return new Gap(sandbox, afterSeq, later.untilSeq);
        }

        public long events() {
            return untilSeq - afterSeq;
        }
    }

    /// The next events; waits at most `patience` for the first of them, and then gives none.
    public Heard next(Duration patience) throws InterruptedException {
        budget.blocks();
        RecentEvents.Slice slice = everything.after(position, patience);
        budget.spend(slice.events().size() * LogFollower.EVENT_COST);
        if (slice.events().isEmpty()) {
            return Heard.NOTHING;
        }
        Missed missed = slice.from() > position + 1 ? trail.between(position + 1, slice.from() - 1) : Missed.NOTHING;
        position = slice.from() + slice.events().size() - 1;
        return new Heard(missed, slice.events());
    }
}
