package dev.vivarium.core.sandbox;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/// Idle timeout and lifetime of a sandbox. Every use restarts the idle timeout, and a sandbox in use is never idle. The
/// lifetime is not extended. Thread-safe.
///
/// Elapsed time comes from a monotonic clock. Times of day are for people and for the store.
final class Lease {
    private final TimeSource timeSource;
    private final Duration idleTimeout;
    private final Instant endsAt;
    private final long endsAtNanos;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile Moment lastUse;
    private volatile boolean unsaved;

    /// A moment on both clocks.
    private record Moment(Instant at, long nanos) {}

    /// `lastActivity` and `endsAt` can come from an earlier server. If the clock was set back, the lease does not
    /// become longer than its original duration.
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

    /// Records a use.
    void touch() {
        lastUse = new Moment(timeSource.now(), timeSource.nanos());
        unsaved = true;
    }

    /// Starts a use, which lasts until [#ended].
    void began() {
        uses.incrementAndGet();
        touch();
    }

    /// Ends a use that [#began] counted.
    void ended() {
        // First the time, then the count, so that the sandbox is never seen as idle since the earlier time.
        touch();
        uses.decrementAndGet();
    }

    boolean isBusy() {
        return uses.get() > 0;
    }

    /// Reports whether the sandbox was unused for the idle timeout.
    boolean isIdleTooLong() {
        return !isBusy() && timeSource.nanos() - lastUse.nanos() - idleTimeout.toNanos() >= 0;
    }

    /// Reports whether the lifetime is over.
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

    /// Time until the lease ends without further use.
    Duration remaining() {
        long nanos = timeSource.nanos();
        long idle = lastUse.nanos() + idleTimeout.toNanos() - nanos;
        return Duration.ofNanos(Math.max(0, Math.min(idle, endsAtNanos - nanos)));
    }

    /// Reports whether the sandbox was used since the last call and the store needs an update.
    boolean takeUnsaved() {
        if (!unsaved) {
            return isBusy();
        }
        // Cleared before the time is read, so a use in between is saved twice rather than never.
        unsaved = false;
        return true;
    }
}
