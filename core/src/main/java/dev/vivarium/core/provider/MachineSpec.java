package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// Specification of a machine to start. The host authenticates the guest by the secret, which no command can read.
/// Immutable.
///
/// @param store the store that has its row
public record MachineSpec(SandboxId id, String secret, String image, Limits limits, StoreId store, OrphanGrace grace) {
    /// Default grace of a machine.
    public static final Duration ORPHAN_GRACE = Duration.ofHours(1);

    /// Time that a machine continues without a server. Immutable.
    ///
    /// @param first after its start
    /// @param used  after it was handed out
    public record OrphanGrace(Duration first, Duration used) {}

    public MachineSpec(SandboxId id, String secret, String image, Limits limits, StoreId store) {
        this(id, secret, image, limits, store, new OrphanGrace(ORPHAN_GRACE, ORPHAN_GRACE));
    }

    /// Grace for the guest and the watcher: whole seconds, at least one.
    public static long seconds(Duration grace) {
        return Math.max(1, grace.plusMillis(999).toSeconds());
    }

    @Override
    public String toString() {
        return "MachineSpec[" + id + ", image " + image + ", " + limits + "]";
    }
}
