package dev.vivarium.core.egress;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/// Token bucket: a burst, then a constant rate per second. Thread-safe.
final class RateLimiter {
    private final double max;
    private final double perNano;

    @GuardedBy("this")
    private double left;

    @GuardedBy("this")
    private long at = System.nanoTime();

    RateLimiter(int burst, int perSecond) {
        this.max = burst;
        this.left = burst;
        this.perNano = perSecond / 1e9;
    }

    /// Takes a token and returns how long the caller must wait for it.
    synchronized Duration take() {
        long now = System.nanoTime();
        left = Math.min(max, left + (now - at) * perNano) - 1;
        at = now;
        return left >= 0 ? Duration.ZERO : Duration.ofNanos((long) (-left / perNano));
    }
}
