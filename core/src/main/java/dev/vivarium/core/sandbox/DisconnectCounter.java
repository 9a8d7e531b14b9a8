package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.guest.Disconnect;
import java.time.Duration;
import java.util.Optional;

/// Counter of the recent disconnects of a sandbox. Protocol violations count for ever. Broken streams count until a
/// minute passes without one. Failures of the server do not count. Thread-safe.
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

    /// Counts one disconnect. Returns the number that counts against the sandbox, without the first broken stream,
    /// which need not be a fault of the guest.
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
