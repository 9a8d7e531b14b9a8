package dev.vivarium.core.sandbox;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;

/// How many sandboxes there may be, how long they live, and what each gets unless asked otherwise. Immutable.
///
/// @param egress           what sandboxes may reach outside
/// @param disk             the home's file system; without it, free space is not watched and unstored ends are only in
///                         memory
/// @param maxBytesInFlight how many bytes may be held for unfinished work
public record SandboxesConfig(
        Room room,
        Times times,
        Limits limits,
        String image,
        EgressConfig egress,
        Optional<HomeDisk> disk,
        long maxBytesInFlight) {
    /// How many there may be.
    ///
    /// @param poolSize machines kept warm; they count towards `sandboxes` only while there is room
    /// @param commands in each sandbox at a time
    public record Room(int poolSize, int sandboxes, int commands) {
        public Room {
            require(poolSize >= 0, "pool-size", "must not be negative");
            require(sandboxes >= 1, "max-sandboxes", "must be at least 1");
            require(commands >= 1, "max-commands-per-sandbox", "must be at least 1");
        }
    }

    /// How long things last.
    ///
    /// @param idle           how long a sandbox lives without use
    /// @param lifetime       how long it lives, whatever it does
    /// @param reconcileEvery how often leftovers are looked for
    /// @param keepEnded      how long it is known how a sandbox ended
    /// @param orphanGrace    how long a sandbox goes on without a server
    /// @param keepOrphans    how long disks and snapshots without a row are kept
    public record Times(
            Duration idle,
            Duration lifetime,
            Duration reconcileEvery,
            Duration keepEnded,
            Duration orphanGrace,
            Duration keepOrphans) {
        private static final Duration MOST_UNUSED = Duration.ofMinutes(1);

        public Times {
            require(idle.isPositive(), "idle-timeout", "must be more than zero");
            require(lifetime.isPositive(), "max-lifetime", "must be more than zero");
            require(reconcileEvery.isPositive(), "reconcile-every", "must be more than zero");
            require(orphanGrace.isPositive(), "orphan-grace", "must be more than zero");
        }

        /// How long an unused machine of the pool goes on without a server.
        Duration unusedGrace() {
            return orphanGrace.compareTo(MOST_UNUSED) < 0 ? orphanGrace : MOST_UNUSED;
        }
    }

    /// What a server has unless it is told otherwise.
    public static SandboxesConfig standard() {
        return new SandboxesConfig(
                new Room(10, 100, 64),
                new Times(
                        Duration.ofMinutes(30),
                        Duration.ofHours(24),
                        Duration.ofSeconds(30),
                        Duration.ofDays(7),
                        MachineSpec.ORPHAN_GRACE,
                        Duration.ofDays(7)),
                Limits.STANDARD,
                "host",
                EgressConfig.ordinary(),
                Optional.empty(),
                ByteBudget.quarterOfHeap());
    }

    public SandboxesConfig with(Room other) {
        return new SandboxesConfig(other, times, limits, image, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig with(Limits each, String from) {
        return new SandboxesConfig(room, times, each, from, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig withPoolSize(int machines) {
        return with(new Room(machines, room.sandboxes, room.commands));
    }

    public SandboxesConfig withMaxSandboxes(int sandboxes) {
        return with(new Room(room.poolSize, sandboxes, room.commands));
    }

    public SandboxesConfig withIdle(Duration timeout) {
        var other = new Times(
                timeout, times.lifetime, times.reconcileEvery, times.keepEnded, times.orphanGrace, times.keepOrphans);
        return new SandboxesConfig(room, other, limits, image, egress, disk, maxBytesInFlight);
    }

    public SandboxesConfig withEgress(EgressConfig reach) {
        return new SandboxesConfig(room, times, limits, image, reach, disk, maxBytesInFlight);
    }

    public SandboxesConfig with(HomeDisk home) {
        return new SandboxesConfig(room, times, limits, image, egress, Optional.of(home), maxBytesInFlight);
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
