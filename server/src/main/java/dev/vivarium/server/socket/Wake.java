package dev.vivarium.server.socket;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Status;
import dev.vivarium.server.settings.CallConfig;

/// What becomes of a call to a paused sandbox. Immutable.
public enum Wake {
    /// The sandbox is resumed, then the call is served.
    RESUME,
    /// The caller is told to resume it.
    REFUSE;

    /// What was chosen.
    public static Wake of(CallConfig config) {
        return config.wakeOnTraffic() ? RESUME : REFUSE;
    }

    /// Makes `sandbox` run if it is paused, or throws `SandboxNotRunning`.
    void awaken(Sandbox sandbox) {
        if (sandbox.info().status() != Status.PAUSED) {
            return;
        }
        switch (this) {
            case RESUME -> sandbox.resume();
            case REFUSE -> throw new SandboxException(new Failure.SandboxNotRunning(sandbox.id(), Status.PAUSED));
        }
    }
}
