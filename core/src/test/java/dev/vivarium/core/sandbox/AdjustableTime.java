package dev.vivarium.core.sandbox;

import dev.vivarium.core.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/// Real time that a test can jump ahead of, the time of day and elapsed time each on its own. Thread-safe.
final class AdjustableTime implements InstantSource, AutoCloseable {
    private final AtomicLong dayNanos = new AtomicLong();
    private final AtomicLong elapsedNanos = new AtomicLong();
    private final Scheduler scheduler = new Scheduler(this, this::nanos);

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

    private long nanos() {
        return System.nanoTime() + elapsedNanos.get();
    }

    TimeSource timeSource() {
        return TimeSource.of(scheduler);
    }

    @Override
    public void close() {
        scheduler.close();
    }
}
