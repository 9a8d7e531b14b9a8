package dev.vivarium.core.watch;

import dev.vivarium.core.guest.GuestStats;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Sampler that publishes the resource usage of sandboxes. Thread-safe.
///
/// It publishes only if a client or a process used the sandbox since the last sample.
final class UsageSampler {
    /// CPU usage up to which a sandbox counts as idle, as a fraction of one CPU.
    private static final double IDLE = 0.005;

    private static final double NANOS = 1e9;

    private final EventLog log;
    private final InstantSource clock;
    private final Map<SandboxId, Sample> samples = new ConcurrentHashMap<>();

    /// Used disk space of each sandbox when it was last in use, in bytes.
    private final Map<SandboxId, Long> disks = new ConcurrentHashMap<>();

    /// A sample with its total CPU time.
    private record Sample(Instant at, Duration cpu, UsageSample reading) {}

    UsageSampler(EventLog log, InstantSource clock) {
        this.log = log;
        this.clock = clock;
    }

    /// Takes a sample, and publishes it unless the sandbox is idle.
    void read(Sandbox sandbox) {
        SandboxInfo info = sandbox.info();
        Machine.Usage usage = sandbox.usage();
        Instant at = clock.instant();
        Optional<Sample> last = Optional.ofNullable(samples.get(info.id()));
        Instant since = last.map(Sample::at).orElse(info.createdAt());
        double cpus = cpus(last.map(Sample::cpu).orElse(Duration.ZERO), usage.cpu(), Duration.between(since, at));
        samples.put(info.id(), new Sample(at, usage.cpu(), new UsageSample(at, percent(cpus), usage.memoryBytes())));
        if (info.lastActivity().isAfter(since) || cpus > IDLE) {
            GuestStats stats = sandbox.stats();
            disks.put(info.id(), diskBytes(stats));
            log.note(info.id(), event(usage, stats, info.limits(), cpus));
        }
    }

    Optional<UsageSample> last(SandboxId sandbox) {
        return Optional.ofNullable(samples.get(sandbox)).map(Sample::reading);
    }

    /// Returns the average used disk space of the sampled sandboxes, in bytes. Zero without a sample.
    double averageDiskBytes() {
        return disks.values().stream().mapToLong(Long::longValue).average().orElse(0);
    }

    private static long diskBytes(GuestStats stats) {
        return Math.max(0, stats.diskTotal() - stats.diskFree());
    }

    private static double cpus(Duration before, Duration now, Duration elapsed) {
        double used = now.minus(before).toNanos() / NANOS;
        // The CPU time of a restarted machine starts at zero.
        return !elapsed.isPositive() || used < 0 ? 0 : used / (elapsed.toNanos() / NANOS);
    }

    private static double percent(double cpus) {
        return Math.round(cpus * 1000) / 10.0;
    }

    private static NewEvent event(Machine.Usage usage, GuestStats stats, Limits limits, double cpus) {
        var body = new SandboxEvent.Metrics(
                percent(cpus),
                percent(limits.cpus()),
                usage.memoryBytes(),
                limits.memoryBytes(),
                stats.processes(),
                limits.processes(),
                diskBytes(stats),
                limits.diskBytes(),
                usage.oomKills());
        return NewEvent.of(body, NewEvent.OURS);
    }

    void forget(SandboxId sandbox) {
        samples.remove(sandbox);
        disks.remove(sandbox);
    }
}
