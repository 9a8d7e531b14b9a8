package dev.vivarium.core.sandbox;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/// How long a sandbox may stay. Every use extends it, one that is in use is never idle, and nothing extends its
/// absolute lifetime. Thread-safe.
///
/// Elapsed time comes from a ticker that never steps; the times of day are for people and for the store.
final class Lease {
    private final TimeSource timeSource;
    private final Duration idleTimeout;
    private final Instant endsAt;
    private final long endsAtNanos;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile Moment lastUse;
    private volatile boolean unsaved;

    /// One instant on both clocks.
    private record Moment(Instant at, long nanos) {}

    /// `lastActivity` and `endsAt` may come from the store of an earlier server. A clock that was set back
    /// meanwhile cannot make a lease longer than it ever was.
    Lease(TimeSource timeSource, Duration idleTimeout, Instant lastActivity, Instant endsAt) {
        this.timeSource = timeSource;
        this.idleTimeout = idleTimeout;
        this.endsAt = endsAt;
        Instant now = timeSource.now();
        long nanos = timeSource.nanos();
        this.endsAtNanos = nanos + Duration.between(now, endsAt).toNanos();
        long elapsed = Math.max(0, Duration.between(lastActivity, now).toNanos());
        this.lastUse = new Moment(lastActivity.isAfter(now) ? now : lastActivity, nanos - elapsed);
    }

    /// Something used the sandbox just now.
    void touch() {
        lastUse = new Moment(timeSource.now(), timeSource.nanos());
        unsaved = true;
    }

    /// Something uses the sandbox from now on, until [#ended].
    void began() {
        uses.incrementAndGet();
        touch();
    }

    /// One use that [#began] counted is over.
    void ended() {
        // First the time, then the count: in between it is busy, and never idle since long ago.
        touch();
        uses.decrementAndGet();
    }

    boolean isBusy() {
        return uses.get() > 0;
    }

    /// Reports whether nobody used it for as long as it may be idle.
    boolean isIdleTooLong() {
        return !isBusy() && timeSource.nanos() - lastUse.nanos() - idleTimeout.toNanos() >= 0;
    }

    /// Reports whether it has reached its absolute lifetime.
    boolean isOver() {
        return timeSource.nanos() - endsAtNanos >= 0;
    }

    Instant lastActivity() {
        return isBusy() ? timeSource.now() : lastUse.at();
    }

    Instant expiresAt() {
        Instant idleEnd = lastActivity().plus(idleTimeout);
        return idleEnd.isBefore(endsAt) ? idleEnd : endsAt;
    }

    Instant endsAt() {
        return endsAt;
    }

    /// How long until it ends if nothing happens.
    Duration remaining() {
        long nanos = timeSource.nanos();
        long idle = lastUse.nanos() + idleTimeout.toNanos() - nanos;
        return Duration.ofNanos(Math.max(0, Math.min(idle, endsAtNanos - nanos)));
    }

    /// Reports whether it was used since the last call, so that the store can be told.
    boolean takeUnsaved() {
        if (!unsaved) {
            return isBusy();
        }
        // Cleared before the time is read: a use in between is then saved twice rather than never.
        unsaved = false;
        return true;
    }
}
