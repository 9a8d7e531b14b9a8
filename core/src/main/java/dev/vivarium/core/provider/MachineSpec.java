package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// What a provider needs to start a machine. The secret lets the host know the guest again; it never reaches a command.
/// Immutable.
///
/// @param store the store that has its row
public record MachineSpec(SandboxId id, String secret, String image, Limits limits, StoreId store, OrphanGrace grace) {
    /// The grace of a machine unless its server chooses another.
    public static final Duration ORPHAN_GRACE = Duration.ofHours(1);

    /// How long a machine goes on without a server. Immutable.
    ///
    /// @param first from its start on
    /// @param used  after it was handed out
    public record OrphanGrace(Duration first, Duration used) {}

    public MachineSpec(SandboxId id, String secret, String image, Limits limits, StoreId store) {
        this(id, secret, image, limits, store, new OrphanGrace(ORPHAN_GRACE, ORPHAN_GRACE));
    }

    /// A grace as the guest and the watcher take it: whole seconds, at least one.
    public static long seconds(Duration grace) {
        return Math.max(1, grace.plusMillis(999).toSeconds());
    }

    @Override
    public String toString() {
        return "MachineSpec[" + id + ", image " + image + ", " + limits + "]";
    }
}
