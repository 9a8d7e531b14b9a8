package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.guest.Disconnect;
import java.time.Duration;
import java.util.Optional;

/// Counts how often a sandbox has lost its stream of late. Violations of the protocol are never forgotten; broken
/// streams are, after a minute without one. Failures of the server are not counted. Thread-safe.
final class DisconnectCounter {
    private static final long FORGET_AFTER_NANOS = Duration.ofMinutes(1).toNanos();

    private final TimeSource timeSource;

    @GuardedBy("this")
    private int violations;

    @GuardedBy("this")
    private int breaks;

    @GuardedBy("this")
    private long lastNanos;

    DisconnectCounter(TimeSource timeSource) {
        this.timeSource = timeSource;
    }

    /// Counts one more and returns how many count against the sandbox, besides the first break: a stream may break
    /// once for no fault of the guest's.
    synchronized int count(Optional<Disconnect> loss) {
        if (isCause(loss, Disconnect.Cause.SERVER_FAULT)) {
            return violations;
        }
        long now = timeSource.nanos();
        if (now - lastNanos > FORGET_AFTER_NANOS) {
            breaks = 0;
        }
        lastNanos = now;
        if (isCause(loss, Disconnect.Cause.VIOLATION)) {
            violations++;
        } else {
            breaks++;
        }
        return violations + Math.max(0, breaks - 1);
    }

    private static boolean isCause(Optional<Disconnect> loss, Disconnect.Cause cause) {
        return loss.map(Disconnect::cause).filter(known -> known == cause).isPresent();
    }
}
