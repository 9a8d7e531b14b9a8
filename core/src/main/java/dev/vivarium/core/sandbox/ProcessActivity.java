package dev.vivarium.core.sandbox;

import java.time.Duration;

/// Work of the processes of one sandbox that no client waits for. A process that only waits is no use of the sandbox.
/// Thread-safe.
///
/// The reaper takes a sample in the middle of the idle time, and compares it with another one at its end.
final class ProcessActivity {
    /// Processes that use a smaller share of one processor only wait.
    private static final int MIN_SHARE = 10_000;

    /// Resolution of the processor time.
    private static final Duration TICK = Duration.ofMillis(10);

    private volatile Sample first = Sample.NONE;

    /// @param idleSince start of the idle time in which the sample was taken, in nanoseconds
    private record Sample(long idleSince, long nanos, Duration cpu, long storageBytes) {
        static final Sample NONE = new Sample(0, 0, Duration.ZERO, -1);

        boolean isOf(long idle) {
            return storageBytes >= 0 && idleSince == idle;
        }

        boolean shows(Sample later) {
            Duration used = later.cpu.minus(cpu);
            Duration min = Duration.ofNanos(Math.max(TICK.toNanos(), (later.nanos - nanos) / MIN_SHARE));
            return used.compareTo(min) >= 0 || later.storageBytes > storageBytes;
        }
    }

    /// Reports whether the middle of the idle time has passed and there is no sample.
    boolean isSampleDue(Lease lease) {
        return !lease.isBusy()
                && !first.isOf(lease.idleSinceNanos())
                && lease.idle().multipliedBy(2).compareTo(lease.idleTimeout()) >= 0;
    }

    void sample(Lease lease, State.Running running, TimeSource timeSource) {
        first = take(lease, running, timeSource);
    }

    /// Reports whether a process worked since the sample in the middle of the idle time. Without that sample, the
    /// idle time starts again, and this is its sample.
    boolean isInUse(Lease lease, State.Running running, TimeSource timeSource) {
        if (running.guest().stats().processes() == 0) {
            return false;
        }
        Sample now = take(lease, running, timeSource);
        if (first.isOf(lease.idleSinceNanos())) {
            return first.shows(now);
        }
        lease.restartIdle();
        first = new Sample(lease.idleSinceNanos(), now.nanos, now.cpu, now.storageBytes);
        return false;
    }

    private static Sample take(Lease lease, State.Running running, TimeSource timeSource) {
        return new Sample(
                lease.idleSinceNanos(),
                timeSource.nanos(),
                running.guest().stats().cpu(),
                running.machine().storageBytes());
    }
}
