package dev.vivarium.core.provider;

import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;

/// What a provider needs to start a machine. The secret lets the host know the guest again; it never reaches a command.
/// Immutable.
public record MachineSpec(SandboxId id, String secret, String image, Limits limits) {
    @Override
    public String toString() {
        return "MachineSpec[" + id + ", image " + image + ", " + limits + "]";
    }
}
