package dev.vivarium.core.log;

import java.time.Duration;

/// Hears of what happens to all sandboxes, live only: one that is too slow is told how much it missed, and finds it in
/// the logs of the sandboxes. Confined to one worker at a time.
public final class Listener {
    private final Recent everything;
    private long position;

    Listener(Recent everything) {
        this.everything = everything;
        this.position = everything.last();
    }

    /// The next events; waits at most `patience` for the first of them, and then gives none.
    public Batch next(Duration patience) throws InterruptedException {
        Recent.Slice slice = everything.after(position, patience);
        if (slice.events().isEmpty()) {
            return Batch.NOTHING;
        }
        long missed = slice.from() - position - 1;
        position = slice.from() + slice.events().size() - 1;
        return new Batch(slice.events(), missed);
    }
}
