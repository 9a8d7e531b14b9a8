package dev.vivarium.core.provider;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Polling of the kernel, which sends no notification when a process, a cgroup or a device is gone. Stateless.
public final class Polling {
    private static final long SHORTEST_NANOS = 200_000;
    private static final long LONGEST_NANOS = 20_000_000;

    private Polling() {}

    /// Polls with increasing intervals until `holds`, for at most `longest`. Returns false on timeout.
    public static boolean until(Duration longest, BooleanSupplier holds) {
        long deadline = System.nanoTime() + longest.toNanos();
        for (long pause = SHORTEST_NANOS; !holds.getAsBoolean(); pause = Math.min(pause * 3 / 2, LONGEST_NANOS)) {
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return holds.getAsBoolean();
            }
            LockSupport.parkNanos(pause);
        }
        return true;
    }
}
