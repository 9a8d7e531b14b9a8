package dev.vivarium.core.sandbox;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/// Idle timeout and lifetime of a sandbox. Every use restarts the idle timeout, and a sandbox in use is never idle. No
/// use extends the lifetime. Thread-safe.
///
/// Elapsed time comes from a monotonic clock. Times of day are for people and for the store.
final class Lease {
    private final TimeSource timeSource;
    private volatile Duration idleTimeout;
    private volatile Moment end;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile Moment lastUse;

    /// Start of the idle time. It is later than [#lastUse] if time without a server followed the last use.
    private volatile Moment idleSince;
    private volatile boolean unsaved;

    /// A moment on both clocks.
    private record Moment(Instant at, long nanos) {}

    /// `lastActivity` and `endsAt` can come from an earlier server. If the clock was set back, the lease does not
    /// become longer than its original duration.
    Lease(TimeSource timeSource, Duration idleTimeout, Instant lastActivity, Instant endsAt) {
        this.timeSource = timeSource;
        this.idleTimeout = idleTimeout;
        Instant now = timeSource.now();
        long nanos = timeSource.nanos();
        this.end = new Moment(endsAt, nanos + Duration.between(now, endsAt).toNanos());
        long elapsed = Math.max(0, Duration.between(lastActivity, now).toNanos());
        this.lastUse = new Moment(lastActivity.isAfter(now) ? now : lastActivity, nanos - elapsed);
        this.idleSince = lastUse;
    }

    /// Records a use.
    void touch() {
        restartIdle();
        lastUse = idleSince;
        unsaved = true;
    }

    /// Restarts the idle time without a use, after a time in which no client could use the sandbox.
    void restartIdle() {
        idleSince = new Moment(timeSource.now(), timeSource.nanos());
    }

    /// Time since the last use or [#restartIdle]; zero during a use.
    Duration idle() {
        return isBusy() ? Duration.ZERO : Duration.ofNanos(timeSource.nanos() - idleSince.nanos());
    }

    /// Identifies the present idle time.
    long idleSinceNanos() {
        return idleSince.nanos();
    }

    Duration idleTimeout() {
        return idleTimeout;
    }

    /// Replaces the end of the lifetime.
    void endAt(Instant other) {
        end = new Moment(
                other,
                timeSource.nanos() + Duration.between(timeSource.now(), other).toNanos());
    }

    /// Shortens the idle timeout. Never makes it longer.
    void limitIdle(Duration limit) {
        idleTimeout = idleTimeout.compareTo(limit) <= 0 ? idleTimeout : limit;
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
        return !isBusy() && timeSource.nanos() - idleSince.nanos() - idleTimeout.toNanos() >= 0;
    }

    /// Reports whether the lifetime is over.
    boolean isOver() {
        return timeSource.nanos() - end.nanos() >= 0;
    }

    Instant lastActivity() {
        return isBusy() ? timeSource.now() : lastUse.at();
    }

    Instant expiresAt() {
        Instant idleEnd = (isBusy() ? timeSource.now() : idleSince.at()).plus(idleTimeout);
        Instant latest = endsAt();
        return idleEnd.isBefore(latest) ? idleEnd : latest;
    }

    Instant endsAt() {
        return end.at();
    }

    /// Time until the lease ends without further use.
    Duration remaining() {
        long nanos = timeSource.nanos();
        long idle = idleSince.nanos() + idleTimeout.toNanos() - nanos;
        return Duration.ofNanos(Math.max(0, Math.min(idle, end.nanos() - nanos)));
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
