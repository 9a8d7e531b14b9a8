package dev.vivarium.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Clock of an owner of stored deadlines, which moves its deadlines when the clock of the host jumps. Thread-safe.
///
/// The clock jumps if a person or a time server sets it, or if the host was suspended. A jump is a difference of at
/// least [#LEAST] between the clock and the elapsed time. [#now] continues as if there had been no jump, until [#apply]
/// has moved the deadlines. A jump while no server runs is not noticed.
public final class ClockJumps {
    /// Smaller differences do not matter. A time server changes the clock in smaller steps, and a busy host reads
    /// clock and elapsed time at different moments.
    private static final Duration LEAST = Duration.ofSeconds(5);

    private final InstantSource clock;
    private final LongSupplier nanos;

    /// Difference between clock and elapsed time, with all jumps that are known.
    @GuardedBy("this")
    private long offsetMillis;

    /// Sum of the jumps that are not applied.
    @GuardedBy("this")
    private long pendingMillis;

    @GuardedBy("this")
    private boolean isApplying;

    /// @param nanos elapsed time; only differences count
    public ClockJumps(InstantSource clock, LongSupplier nanos) {
        this.clock = clock;
        this.nanos = nanos;
        this.offsetMillis = offset();
    }

    public static ClockJumps of(Scheduler scheduler) {
        return new ClockJumps(scheduler.clock(), scheduler::nanos);
    }

    private long offset() {
        return clock.millis() - TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong());
    }

    /// Returns the time without the jumps that are not applied, in milliseconds.
    public synchronized Instant now() {
        notice();
        return Instant.ofEpochMilli(clock.millis() - pendingMillis);
    }

    private synchronized void notice() {
        long offset = offset();
        if (Math.abs(offset - offsetMillis) >= LEAST.toMillis()) {
            pendingMillis += offset - offsetMillis;
            offsetMillis = offset;
        }
    }

    /// Calls `move` with the jump that happened since the last call, if there was one. `move` adds the jump to each
    /// deadline. If it throws, the jump stays for the next call.
    public void apply(Consumer<Duration> move) {
        long jump = begin();
        if (jump == 0) {
            return;
        }
        boolean isMoved = false;
        try {
            move.accept(Duration.ofMillis(jump));
            isMoved = true;
        } finally {
            end(isMoved ? jump : 0);
        }
    }

    /// Returns zero if there is no jump, or if another thread applies it.
    private synchronized long begin() {
        notice();
        if (isApplying || pendingMillis == 0) {
            return 0;
        }
        isApplying = true;
        return pendingMillis;
    }

    private synchronized void end(long applied) {
        isApplying = false;
        pendingMillis -= applied;
    }
}
