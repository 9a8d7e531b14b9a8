package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.guest.Loss;
import java.time.Duration;
import java.util.Optional;

/// How often a sandbox has lost its stream of late. Violations of the protocol are never forgotten; other losses are,
/// after a minute without one. Thread-safe.
final class Losses {
    private static final long FORGET_AFTER_NANOS = Duration.ofMinutes(1).toNanos();

    private final World world;

    @GuardedBy("this")
    private int violations;

    @GuardedBy("this")
    private int breaks;

    @GuardedBy("this")
    private long lastNanos;

    Losses(World world) {
        this.world = world;
    }

    /// Counts one more and returns how many count against the sandbox, besides the first break: a stream may break
    /// once for no fault of the guest's.
    synchronized int count(Optional<Loss> loss) {
        long now = world.nanos();
        if (now - lastNanos > FORGET_AFTER_NANOS) {
            breaks = 0;
        }
        lastNanos = now;
        if (loss.map(Loss::cause).filter(cause -> cause == Loss.Cause.VIOLATION).isPresent()) {
            violations++;
        } else {
            breaks++;
        }
        return violations + Math.max(0, breaks - 1);
    }
}
