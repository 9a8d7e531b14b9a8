package dev.vivarium.core.sandbox;

import dev.vivarium.core.log.Batch;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.LogFollower;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// Follows what happens to a sandbox up to the last event of its life. Confined to one worker at a time, but for [#seq]
/// and [#close].
///
/// A sandbox is gone for its callers a moment before its machine is, and its end is told after that. Whoever comes in
/// between waits for it, but not for ever: what a server that died has not told may be told by the next one only.
public final class EventFollower implements AutoCloseable {
    private static final Duration LATEST = Duration.ofSeconds(10);

    private final EventLog log;
    private final SandboxId sandbox;
    private final LogFollower follower;
    private final boolean isAlive;
    private final long since = System.nanoTime();
    private boolean isOver;

    /// @param isAlive whether it was there when the spectator came
    public EventFollower(EventLog log, SandboxId sandbox, long afterSeq, boolean isAlive) {
        this.log = log;
        this.sandbox = sandbox;
        this.follower = log.follow(sandbox, afterSeq);
        this.isAlive = isAlive;
    }

    /// The last event that was given out, or the place where it began.
    public long seq() {
        return follower.seq();
    }

    /// The next events; waits at most `patience` for the first of them, and then gives none.
    public Batch next(Duration patience) throws InterruptedException {
        Batch batch = isAlive ? follower.next(patience) : rest(patience);
        isOver |= batch.events().stream().anyMatch(LifecycleEvents::isEnd);
        return batch;
    }

    private Batch rest(Duration patience) throws InterruptedException {
        Batch kept = follower.next(Duration.ZERO);
        if (!kept.isEmpty()) {
            return kept;
        }
        Duration left = LATEST.minusNanos(System.nanoTime() - since);
        if (left.isNegative() || LifecycleEvents.hasEnd(log, sandbox)) {
            // It may have come between the two looks.
            Batch last = follower.next(Duration.ZERO);
            isOver = last.isEmpty();
            return last;
        }
        return follower.next(left.compareTo(patience) < 0 ? left : patience);
    }

    /// Whether all was given out.
    public boolean isOver() {
        return isOver;
    }

    @Override
    public void close() {
        follower.close();
    }
}
