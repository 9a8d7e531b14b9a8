package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.SandboxException;
import java.time.Duration;

/// Tells a kill for want of memory from any other, by the kernel's count of such kills. The count is read only when
/// something was killed. Thread-safe.
final class OomWatch {
    /// The kernel often kills several processes at once; all of them died of the same growth of the count.
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

    /// Reports whether a process of `machine` that was killed a moment ago died for want of memory.
    boolean explains(Machine machine) {
        long kills;
        try {
            kills = machine.usage().oomKills();
        } catch (SandboxException e) {
            return false; // The machine is gone and its count with it.
        }
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
