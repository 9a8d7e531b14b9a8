package dev.vivarium.server.settings;

import dev.vivarium.model.Limits;
import java.time.Duration;
import java.util.Optional;

/// Settings of the sandbox engine: provider, image, capacity, lifetime and limits. Immutable.
public record EngineConfig(
        ProviderKind provider, String runtime, String image, Capacity capacity, Lifetime lifetime, Limits limits) {
    /// Isolation of sandboxes.
    public enum ProviderKind {
        OCI,
        PROCESS;

        static ProviderKind of(String name) {
            return switch (name) {
                case "oci" -> OCI;
                case "process" -> PROCESS;
                default ->
                    throw new IllegalArgumentException(
                            "'" + name + "' is not in this version; choose oci, or process for a laptop");
            };
        }
    }

    /// Limits for the number of sandboxes and commands.
    ///
    /// @param maxBytesInFlight for unfinished work; absent if the heap size decides
    public record Capacity(
            int poolSize, int maxSandboxes, int maxCommandsPerSandbox, Optional<Long> maxBytesInFlight) {}

    /// Lifetime of a sandbox: default and maximum idle timeout, maximum total lifetime, and time without a server.
    /// `keepOrphans` is the retention of disks without a row.
    public record Lifetime(
            Duration idleTimeout,
            Duration maxIdleTimeout,
            Duration maxLifetime,
            Duration orphanGrace,
            Duration keepOrphans) {}

    static EngineConfig of(Settings settings) {
        return new EngineConfig(
                settings.get(Catalogue.PROVIDER),
                settings.get(Catalogue.RUNTIME),
                settings.get(Catalogue.IMAGE),
                new Capacity(
                        settings.get(Catalogue.POOL_SIZE),
                        settings.get(Catalogue.MAX_SANDBOXES),
                        settings.get(Catalogue.MAX_COMMANDS),
                        Optional.of(settings.get(Catalogue.MAX_BYTES_IN_FLIGHT)).filter(bytes -> bytes > 0)),
                new Lifetime(
                        settings.get(Catalogue.SESSION_TIMEOUT),
                        settings.get(Catalogue.MAX_SESSION_TIMEOUT),
                        settings.get(Catalogue.MAX_LIFETIME),
                        settings.get(Catalogue.ORPHAN_GRACE),
                        settings.get(Catalogue.KEEP_ORPHANS)),
                new Limits(
                        settings.get(Catalogue.MEMORY),
                        settings.get(Catalogue.CPUS),
                        settings.get(Catalogue.PROCESSES),
                        settings.get(Catalogue.DISK)));
    }
}
