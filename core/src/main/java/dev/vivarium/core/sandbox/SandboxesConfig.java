package dev.vivarium.core.sandbox;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import java.time.Duration;
import java.util.Optional;

/// Configuration of the sandboxes: capacity, times and defaults. Immutable.
///
/// @param egress           egress rules
/// @param disk             file system of the home; without it, free space is not measured and unstored ends are only
///                         in memory
/// @param maxBytesInFlight maximum number of bytes that are held for unfinished work
public record SandboxesConfig(
        CapacityLimits room,
        Times times,
        Limits limits,
        String image,
        EgressConfig egress,
        Optional<HomeDisk> disk,
        long maxBytesInFlight) {
    /// Capacity.
    ///
    /// @param poolSize machines in the pool; they use only places that sandboxes leave free
    /// @param commands maximum number of concurrent commands in each sandbox
    /// @param perUser  limits of each user
    public record CapacityLimits(int poolSize, int sandboxes, int commands, UserQuota perUser) {
        public CapacityLimits {
            require(poolSize >= 0, "pool-size", "must not be negative");
            require(sandboxes >= 1, "max-sandboxes", "must be at least 1");
            require(commands >= 1, "max-commands-per-sandbox", "must be at least 1");
        }

        public CapacityLimits(int poolSize, int sandboxes, int commands) {
            this(poolSize, sandboxes, commands, UserQuota.UNLIMITED);
        }
    }

    /// Durations.
    ///
    /// @param idle           idle timeout of a sandbox
    /// @param lifetime       maximum age of a sandbox
    /// @param reconcileEvery interval of the reconciler
    /// @param keepEnded      retention of ended sandboxes in the store
    /// @param orphanGrace    time that a sandbox continues without a server
    /// @param keepOrphans    retention of disks and snapshots without a row
    /// @param onIdle         result of the idle timeout of a sandbox
    /// @param keepHibernated retention of the disks of hibernated sandboxes
    public record Times(
            Duration idle,
            Duration lifetime,
            Duration reconcileEvery,
            Duration keepEnded,
            Duration orphanGrace,
            Duration keepOrphans,
            OnIdle onIdle,
            Duration keepHibernated) {
        private static final Duration MAX_UNUSED = Duration.ofMinutes(1);

        public Times {
            require(idle.isPositive(), "idle-timeout", "must be more than zero");
            require(lifetime.isPositive(), "max-lifetime", "must be more than zero");
            require(reconcileEvery.isPositive(), "reconcile-every", "must be more than zero");
            require(orphanGrace.isPositive(), "orphan-grace", "must be more than zero");
            require(keepHibernated.isPositive(), "keep-hibernated-days", "must be more than zero");
        }

        /// Time that an unused machine of the pool continues without a server.
        Duration unusedGrace() {
            return orphanGrace.compareTo(MAX_UNUSED) < 0 ? orphanGrace : MAX_UNUSED;
        }
    }

    public static SandboxesConfig standard() {
        return new SandboxesConfig(
                new CapacityLimits(10, 100, 64),
                new Times(
                        Duration.ofMinutes(30),
                        Duration.ofHours(24),
                        Duration.ofSeconds(30),
                        Duration.ofDays(7),
                        MachineSpec.ORPHAN_GRACE,
                        Duration.ofDays(7),
                        OnIdle.END,
                        Duration.ofDays(7)),
                Limits.STANDARD,
                "host",
                EgressConfig.ordinary(),
                Optional.empty(),
                ByteBudget.quarterOfHeap());
    }

    public SandboxesConfig with(CapacityLimits other) {
        return new SandboxesConfig(other, times, limits, image, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig with(Limits each, String from) {
        return new SandboxesConfig(room, times, each, from, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig withPoolSize(int machines) {
        return with(new CapacityLimits(machines, room.sandboxes, room.commands, room.perUser));
    }

    public SandboxesConfig withMaxSandboxes(int sandboxes) {
        return with(new CapacityLimits(room.poolSize, sandboxes, room.commands, room.perUser));
    }

    public SandboxesConfig withIdle(Duration timeout) {
        var other = new Times(
                timeout,
                times.lifetime,
                times.reconcileEvery,
                times.keepEnded,
                times.orphanGrace,
                times.keepOrphans,
                times.onIdle,
                times.keepHibernated);
        return new SandboxesConfig(room, other, limits, image, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig withEgress(EgressConfig reach) {
        return new SandboxesConfig(room, times, limits, image, reach, disk, maxBytesInFlight);
    }

    public SandboxesConfig with(HomeDisk home) {
        return new SandboxesConfig(room, times, limits, image, egress, Optional.of(home), maxBytesInFlight);
    }
}
