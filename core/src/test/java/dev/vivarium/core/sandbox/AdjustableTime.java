package dev.vivarium.core.sandbox;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/// Real time with an offset that a test sets, separately for the wall clock and for elapsed time. Thread-safe.
final class AdjustableTime implements InstantSource, Ticker {
    private final AtomicLong dayNanos = new AtomicLong();
    private final AtomicLong elapsedNanos = new AtomicLong();

    void advance(Duration time) {
        dayNanos.addAndGet(time.toNanos());
        elapsedNanos.addAndGet(time.toNanos());
    }

    /// Sets the wall clock only. No time elapses.
    void stepClock(Duration step) {
        dayNanos.addAndGet(step.toNanos());
    }

    @Override
    public Instant instant() {
        return Instant.now().plusNanos(dayNanos.get());
    }

    @Override
    public long nanos() {
        return System.nanoTime() + elapsedNanos.get();
    }

    TimeSource timeSource() {
        return new TimeSource(this, this, new SecureRandom());
    }
}
