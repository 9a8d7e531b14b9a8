package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.SandboxException;
import java.time.Duration;

/// Detector of OOM kills, based on the counter of the kernel. It reads the counter only after a kill. Thread-safe.
final class OomWatch {
    /// The kernel often kills several processes at once. All kills within this time belong to the same increase of
    /// the counter.
    private static final long SAME_MOMENT_NANOS = Duration.ofSeconds(2).toNanos();

    private final TimeSource timeSource;

    @GuardedBy("this")
    private long seen;

    @GuardedBy("this")
    private long grewAtNanos;

    @GuardedBy("this")
    private boolean grew;

    OomWatch(TimeSource timeSource) {
        this.timeSource = timeSource;
    }

    /// Returns the counter of the kernel; zero if the machine and its counter are gone.
    static long count(Machine machine) {
        try {
            return machine.oomKills();
        } catch (SandboxException e) {
            return 0;
        }
    }

    /// Reports whether a process of `machine` that was just killed died because of missing memory.
    boolean hasKilled(Machine machine) {
        long kills = count(machine);
        synchronized (this) {
            long now = timeSource.nanos();
            if (kills > seen) {
                seen = kills;
                grew = true;
                grewAtNanos = now;
            }
            return grew && now - grewAtNanos <= SAME_MOMENT_NANOS;
        }
    }
}
