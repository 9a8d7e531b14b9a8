package dev.vivarium.core.watch;

import java.util.function.LongSupplier;

/// Token bucket: a burst, then a constant rate per second. Confined to one thread.
final class RateBucket {
    private static final double NANOS = 1e9;

    private final double burst;
    private final double perSecond;
    private final LongSupplier nanos;
    private double left;
    private long filledAt;

    RateBucket(double burst, double perSecond, LongSupplier nanos) {
        this.burst = burst;
        this.perSecond = perSecond;
        this.nanos = nanos;
        this.left = burst;
        this.filledAt = nanos.getAsLong();
    }

    /// Takes the whole amount or nothing.
    boolean tryTake(double amount) {
        long now = nanos.getAsLong();
        left = Math.min(burst, left + (now - filledAt) / NANOS * perSecond);
        filledAt = now;
        if (amount > left) {
            return false;
        }
        left -= amount;
        return true;
    }
}
