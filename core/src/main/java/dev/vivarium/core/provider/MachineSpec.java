package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// What a provider needs to start a machine. The secret lets the host know the guest again; it never reaches a command.
/// Immutable.
///
/// @param store       the store that has its row
/// @param orphanGrace how long the machine goes on without a server
public record MachineSpec(
        SandboxId id, String secret, String image, Limits limits, StoreId store, Duration orphanGrace) {
    /// The grace of a machine unless its server chooses another.
    public static final Duration ORPHAN_GRACE = Duration.ofHours(1);

    public MachineSpec(SandboxId id, String secret, String image, Limits limits, StoreId store) {
        this(id, secret, image, limits, store, ORPHAN_GRACE);
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
