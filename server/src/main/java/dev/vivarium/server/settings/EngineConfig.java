package dev.vivarium.server.settings;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.sandbox.HomeDisk;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.sandbox.UserQuota;
import dev.vivarium.model.Limits;
import java.time.Duration;
import java.util.Optional;

/// Settings of the sandbox engine. Immutable.
///
/// @param maxIdleTimeout    maximum idle timeout of a request
/// @param storeReserveBytes disk space that the SQLite store allocates in advance
public record EngineConfig(
        ProviderKind provider,
        String runtime,
        Duration maxIdleTimeout,
        long storeReserveBytes,
        SandboxesConfig sandboxes) {
    private static final Duration RECONCILE_EVERY = Duration.ofSeconds(30);

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

    static EngineConfig of(Settings settings) {
        return new EngineConfig(
                settings.get(Catalogue.PROVIDER),
                settings.get(Catalogue.RUNTIME),
                settings.get(Catalogue.MAX_SESSION_TIMEOUT),
                settings.get(Catalogue.STORE_RESERVE),
                sandboxes(settings));
    }

    private static SandboxesConfig sandboxes(Settings settings) {
        long maxBytesInFlight = settings.get(Catalogue.MAX_BYTES_IN_FLIGHT);
        return new SandboxesConfig(
                new SandboxesConfig.CapacityLimits(
                        settings.get(Catalogue.POOL_SIZE),
                        settings.get(Catalogue.MAX_SANDBOXES),
                        settings.get(Catalogue.MAX_COMMANDS),
                        new UserQuota(
                                settings.get(Catalogue.MAX_SANDBOXES_PER_USER),
                                settings.get(Catalogue.USER_SHARE),
                                settings.get(Catalogue.MAX_DISK_PER_USER),
                                settings.get(Catalogue.MAX_SNAPSHOTS_PER_USER),
                                settings.get(Catalogue.MAX_RUNS_PER_USER))),
                new SandboxesConfig.Times(
                        settings.get(Catalogue.SESSION_TIMEOUT),
                        settings.get(Catalogue.MAX_LIFETIME),
                        RECONCILE_EVERY,
                        settings.get(Catalogue.LOG_KEEP),
                        settings.get(Catalogue.ORPHAN_GRACE),
                        settings.get(Catalogue.KEEP_ORPHANS),
                        settings.get(Catalogue.ON_IDLE),
                        settings.get(Catalogue.KEEP_HIBERNATED)),
                new Limits(
                        settings.get(Catalogue.MEMORY),
                        settings.get(Catalogue.CPUS),
                        settings.get(Catalogue.PROCESSES),
                        settings.get(Catalogue.DISK)),
                settings.get(Catalogue.IMAGE),
                EgressSettings.of(settings),
                Optional.of(new HomeDisk(
                        settings.home(),
                        settings.get(Catalogue.DISK_LOW_WATER),
                        settings.get(Catalogue.DISK_OVERCOMMIT))),
                maxBytesInFlight > 0 ? maxBytesInFlight : ByteBudget.quarterOfHeap());
    }

    EngineConfig withEgress(EgressConfig other) {
        return new EngineConfig(provider, runtime, maxIdleTimeout, storeReserveBytes, sandboxes.withEgress(other));
    }
}
