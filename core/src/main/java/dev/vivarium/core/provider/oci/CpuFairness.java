package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Fair use of the processors: reduces the part of machines that compute or fork without pause, so that the others
/// answer quickly. Thread-safe.
///
/// - A *busy* machine, which uses most of a processor or would if it had one, is in an idle group of the kernel.
///   Machines that mostly wait preempt it at once, and busy machines share the rest equally.
/// - A *forking* machine, which fails to fork at its process limit, has a small quota and the usual weight. A lower
///   weight would delay the others: forks of all machines take the same locks of the kernel, for example those of the
///   C library's mappings, and a process of low weight holds them for longer.
/// - While the *server* uses most of a processor, all machines together have a higher weight. Otherwise, the others
///   would wait for the server to catch up on the time that busy machines used.
final class CpuFairness implements AutoCloseable {
    private static final Duration INTERVAL = Duration.ofMillis(500);
    private static final double BUSY = 0.85;

    /// A machine that uses less of a processor is neither busy nor forking.
    private static final double ACTIVE = 0.05;

    /// Number of threads of a machine that are read.
    private static final int THREADS = 16;

    private static final double NO_LONGER_BUSY = 0.3;
    private static final double BUSY_SERVER = 0.75;

    /// Weight of all machines beside a busy server, as a multiple of the usual one.
    private static final int BESIDE_BUSY_SERVER = 4;

    /// Number of intervals without a failed fork after which a machine has its quota again, and of intervals
    /// without a busy server after which all machines have the usual weight again.
    private static final int CALM = 4;

    private final Cgroups cgroups;
    private final Map<SandboxId, OciMachine> machines;
    private final CountDownLatch closed = new CountDownLatch(1);

    /// Confined to the thread of [#run].
    private final Map<SandboxId, Reading> readings = new HashMap<>();

    private Reading all;
    private Duration serverTime = serverTime();

    /// Number of intervals in which the server was not busy.
    private int serverCalm = CALM;

    private long readAt = System.nanoTime();

    /// @param cpuNanos    processor time since the start
    /// @param failedForks number of failed forks since the start
    /// @param level       how the machine is limited
    /// @param calm        number of intervals without a failed fork
    /// @param demands     time in which threads ran or waited for a processor since their start, by thread
    private record Reading(long cpuNanos, long failedForks, Level level, int calm, Map<Long, Long> demands) {
        static Reading of(Duration cpu) {
            return new Reading(cpu.toNanos(), 0, Level.NORMAL, 0, Map.of());
        }
    }

    /// Part of the processors that a machine has.
    enum Level {
        NORMAL,
        BUSY,
        FORKING
    }

    private CpuFairness(Cgroups cgroups, Map<SandboxId, OciMachine> machines) {
        this.cgroups = cgroups;
        this.machines = machines;
        this.all = Reading.of(cgroups.cpuTime());
    }

    /// Starts to watch `machines`, a concurrent map.
    static CpuFairness start(Cgroups cgroups, Map<SandboxId, OciMachine> machines) {
        var fairness = new CpuFairness(cgroups, machines);
        Thread.ofPlatform().daemon().name("cpu-fairness").start(fairness::run);
        return fairness;
    }

    private void run() {
        try {
            while (!closed.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                check();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Reads single machines only if all together are busy.
    private void check() {
        long now = System.nanoTime();
        double elapsed = now - readAt;
        readAt = now;
        checkServer(elapsed);
        var before = all;
        all = Reading.of(cgroups.cpuTime());
        boolean isCalm = all.cpuNanos - before.cpuNanos < ACTIVE * elapsed;
        if (isCalm && readings.values().stream().allMatch(reading -> reading.level == Level.NORMAL)) {
            readings.clear();
            return;
        }
        readings.keySet().retainAll(machines.keySet());
        machines.forEach((id, machine) -> {
            try {
                check(machine, elapsed);
            } catch (SandboxException e) {
                // The machine has just been removed.
                readings.remove(id);
            }
        });
    }

    private void checkServer(double elapsed) {
        var before = serverTime;
        serverTime = serverTime();
        int calm = serverTime.minus(before).toNanos() >= BUSY_SERVER * elapsed ? 0 : Math.min(CALM, serverCalm + 1);
        boolean isBusy = calm < CALM;
        boolean wasBusy = serverCalm < CALM;
        if (isBusy != wasBusy) {
            cgroups.weight(isBusy ? BESIDE_BUSY_SERVER : 1);
        }
        serverCalm = calm;
    }

    private static Duration serverTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private void check(OciMachine machine, double elapsed) {
        var before = readings.get(machine.id());
        var cgroup = machine.cgroup();
        long cpuNanos = cgroup.cpuTime().toNanos();
        long failedForks = cgroup.failedForks();
        if (before == null) {
            readings.put(machine.id(), new Reading(cpuNanos, failedForks, Level.NORMAL, CALM, Map.of()));
            return;
        }
        boolean isActive = cpuNanos - before.cpuNanos >= ACTIVE * elapsed;
        Map<Long, Long> demands = isActive ? demands(cgroup) : Map.of();
        int calm = failedForks > before.failedForks ? 0 : Math.min(CALM, before.calm + 1);
        long wanted = Math.max(cpuNanos - before.cpuNanos, highest(before.demands, demands));
        var level = level(before, calm, wanted / elapsed);
        if (level != before.level) {
            machine.level(level);
        }
        readings.put(machine.id(), new Reading(cpuNanos, failedForks, level, calm, demands));
    }

    /// On a busy host, a machine that always computes gets little processor time. The time that its threads wait
    /// for a processor tells it from one that waits for something else.
    private static Map<Long, Long> demands(Cgroup cgroup) {
        var demands = new HashMap<Long, Long>();
        for (long thread : cgroup.threads().stream().limit(THREADS).toList()) {
            var fields = HostProcess.read(thread, "schedstat").split(" ", -1);
            if (fields.length > 1) {
                demands.put(thread, Long.parseLong(fields[0]) + Long.parseLong(fields[1]));
            }
        }
        return demands;
    }

    /// Returns the highest increase of a thread.
    private static long highest(Map<Long, Long> before, Map<Long, Long> now) {
        long highest = 0;
        for (var demand : now.entrySet()) {
            long known = before.getOrDefault(demand.getKey(), demand.getValue());
            highest = Math.max(highest, demand.getValue() - known);
        }
        return highest;
    }

    /// @param processors number of processors that the machine used, or would use alone
    private static Level level(Reading before, int calm, double processors) {
        if (calm < CALM) {
            return Level.FORKING;
        }
        return processors >= (before.level == Level.NORMAL ? BUSY : NO_LONGER_BUSY) ? Level.BUSY : Level.NORMAL;
    }

    /// Stops. Machines keep their limits.
    @Override
    public void close() {
        closed.countDown();
    }
}
