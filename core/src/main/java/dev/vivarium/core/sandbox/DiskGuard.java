package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.DiskSpace.Reading;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Guard of the free space of the home. Below the low-water mark, it freezes the sandbox whose disk grows most. Below a
/// quarter of the mark, it freezes every sandbox whose disk grows. Thread-safe.
///
/// It measures every second, and more often near the mark, because a sandbox can write gigabytes in a second. A frozen
/// sandbox stays frozen until a person resumes or ends it.
final class DiskGuard implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskGuard.class);
    private static final long MIB = 1L << 20;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);

    /// Interval of the measurements below the mark.
    private static final Duration PAUSE_BELOW_MARK = Duration.ofMillis(100);

    /// Interval of the measurements of disk usage while there is enough space.
    private static final Duration USAGE_EVERY = Duration.ofSeconds(5);

    /// Maximum assumed loss of free space per millisecond: 4 GiB per second.
    private static final long FASTEST = 4 * MIB;

    /// Minimum growth between two measurements for a disk to count as growing.
    private static final long MIN_GROWTH = MIB;

    /// The largest grower is frozen only if it used at least this share of the lost space.
    private static final int MIN_SHARE = 10;

    /// Below this share of the mark, all growers are frozen.
    private static final int CRITICAL_SHARE = 4;

    private final Provider provider;
    private final Registry registry;
    private final DiskSpace space;
    private final BackgroundTasks tasks;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread worker =
            Thread.ofPlatform().daemon().name("disk-guard").unstarted(this::run);

    /// Confined to the thread of the guard.
    private Map<SandboxId, Long> usage = Map.of();

    private long freeBefore;
    private long usageNanos;

    DiskGuard(Provider provider, Registry registry, DiskSpace space, BackgroundTasks tasks) {
        this.provider = provider;
        this.registry = registry;
        this.space = space;
        this.tasks = tasks;
        this.freeBefore = space.reading().freeBytes();
        this.usageNanos = System.nanoTime() - USAGE_EVERY.toNanos();
    }

    void start() {
        worker.start();
    }

    private void run() {
        try {
            do {
                runOnce();
            } while (!closed.await(pause(space.reading()), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Milliseconds until the next measurement.
    static long pause(Reading now) {
        long aboveMark = now.freeBytes() - now.lowWaterBytes();
        return aboveMark < 0
                ? PAUSE_BELOW_MARK.toMillis()
                : Math.clamp(aboveMark / FASTEST, SHORTEST_PAUSE.toMillis(), LONGEST_PAUSE.toMillis());
    }

    private void runOnce() {
        try {
            Reading now = space.measure();
            boolean isNear = now.freeBytes() < 2 * now.lowWaterBytes();
            if (isNear || System.nanoTime() - usageNanos >= USAGE_EVERY.toNanos()) {
                measureDisks();
            }
        } catch (RuntimeException e) {
            // The guard continues after a failure.
            LOG.warn("The disks could not be measured: {}", e.getMessage(), e);
        }
    }

    /// Measures the disks first and the free space after them. In the other order, a disk that grows in between
    /// counts as grown at a time with enough free space, and is not frozen when the space is low.
    private void measureDisks() {
        Map<SandboxId, Long> before = usage;
        usage = provider.diskUsage();
        Reading now = space.measure();
        boolean isLimited = !provider.capabilities().diskLimit().equals("none");
        space.usedByDisks(isLimited ? usedByMachines() : -1);
        if (now.freeBytes() < now.lowWaterBytes()) {
            freezeGrowers(before, now);
        }
        freeBefore = now.freeBytes();
        usageNanos = System.nanoTime();
    }

    /// A hibernated disk cannot grow, so it has no part in the overcommit.
    private long usedByMachines() {
        return usage.entrySet().stream()
                .filter(disk -> registry.find(disk.getKey())
                        .filter(sandbox -> sandbox.lifecycle().state() instanceof State.Hibernated)
                        .isEmpty())
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private record Grower(Sandbox sandbox, long bytes) {}

    private void freezeGrowers(Map<SandboxId, Long> before, Reading now) {
        boolean isCritical = now.freeBytes() < now.lowWaterBytes() / CRITICAL_SHARE;
        long min = isCritical ? MIN_GROWTH : Math.max(MIN_GROWTH, (freeBefore - now.freeBytes()) / MIN_SHARE);
        Stream<Grower> growers = registry.all().stream()
                .filter(sandbox -> sandbox.lifecycle().state() instanceof State.Running)
                .map(sandbox -> new Grower(sandbox, growth(sandbox.id(), before)))
                .filter(grower -> grower.bytes() >= min)
                .sorted(Comparator.comparingLong(Grower::bytes).reversed());
        growers.limit(isCritical ? Long.MAX_VALUE : 1).forEach(grower -> freeze(grower, now));
    }

    private long growth(SandboxId id, Map<SandboxId, Long> before) {
        Long size = usage.get(id);
        return size == null ? 0 : size - before.getOrDefault(id, 0L);
    }

    private void freeze(Grower grower, Reading now) {
        SandboxId id = grower.sandbox().id();
        var why = PauseReason.diskLow("its disk grew by " + grower.bytes() / MIB + " MiB while the server had "
                + now.freeBytes() / MIB + " MiB of disk space left (low-water mark " + now.lowWaterBytes() / MIB
                + " MiB)");
        tasks.startOnce("freeze-" + id, () -> {
            try {
                grower.sandbox().pause(why);
                LOG.warn("Sandbox {} is frozen: {}", id, why.detail());
            } catch (SandboxException e) {
                LOG.warn("Sandbox {} was not frozen: {}", id, e.getMessage());
            }
        });
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
