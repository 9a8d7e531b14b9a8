package dev.vivarium.core.lifecycle;

import dev.vivarium.core.log.Batch;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.LogFollower;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// Follower of a sandbox's log up to its last event. Confined to one thread at a time, except [#seq] and [#close].
///
/// A sandbox ends for its callers a moment before the engine removes its machine, and the last event comes after that.
/// A follower that starts in between waits for the event, but only for [#LATEST]: if the server crashed, the next
/// server appends the event.
public final class EventFollower implements AutoCloseable {
    private static final Duration LATEST = Duration.ofSeconds(10);

    private final EventLog log;
    private final SandboxId sandbox;
    private final LogFollower follower;
    private final boolean isAlive;
    private final long since = System.nanoTime();
    private boolean isOver;

    /// @param isAlive whether the sandbox existed when the follower started
    public EventFollower(EventLog log, SandboxId sandbox, long afterSeq, boolean isAlive) {
        this.log = log;
        this.sandbox = sandbox;
        this.follower = log.follow(sandbox, afterSeq);
        this.isAlive = isAlive;
    }

    /// Returns the number of the last event read, or the start position.
    public long seq() {
        return follower.seq();
    }

    /// Returns the next events. Waits at most `timeout` for the first, and returns none at the timeout.
    public Batch next(Duration timeout) throws InterruptedException {
        Batch batch = isAlive ? follower.next(timeout) : rest(timeout);
        isOver |= batch.events().stream().anyMatch(LifecycleEvents::isEnd);
        return batch;
    }

    /// Releases the carrier permit of the reader. Call it before the events are sent, because sending can block.
    public void blocks() {
        follower.blocks();
    }

    private Batch rest(Duration timeout) throws InterruptedException {
        Batch kept = follower.next(Duration.ZERO);
        if (!kept.isEmpty()) {
            return kept;
        }
        Duration left = LATEST.minusNanos(System.nanoTime() - since);
        if (left.isNegative() || LifecycleEvents.hasEnd(log, sandbox)) {
            // The last event may have been appended between the two reads.
            Batch last = follower.next(Duration.ZERO);
            isOver = last.isEmpty();
            return last;
        }
        return follower.next(left.compareTo(timeout) < 0 ? left : timeout);
    }

    /// Reports whether the follower has returned the last event.
    public boolean isOver() {
        return isOver;
    }

    @Override
    public void close() {
        follower.close();
    }
}
