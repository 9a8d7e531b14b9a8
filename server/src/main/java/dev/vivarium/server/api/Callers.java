package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// Finds sandboxes for those who may use them. What is not there and what belongs to somebody else get the very same
/// answer, so that nobody can find out what others have. Thread-safe.
public final class Callers {
    private static final int SHOWN_ID = 64;

    private final Sandboxes sandboxes;

    public Callers(Sandboxes sandboxes) {
        this.sandboxes = sandboxes;
    }

    /// The caller's sandbox with this id, as it was sent; throws [Failure.NoSuchSandbox] otherwise.
    Sandbox require(Principal caller, String id) {
        if (!SandboxId.isWellFormed(id)) {
            throw unknown(id);
        }
        return sandboxes.require(new SandboxId(id), caller::mayActFor);
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= SHOWN_ID ? id : id.substring(0, SHOWN_ID) + "…";
        return new SandboxException(new Failure.NoSuchSandbox(shown, Optional.empty()));
    }
}
