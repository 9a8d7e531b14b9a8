package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import java.util.Optional;

/// Finds sandboxes for those who may use them. What is not there and what belongs to somebody else get the very same
/// answer, so that nobody can find out what others have. Thread-safe.
public final class Callers {
    private static final int SHOWN_ID = 64;

    private final Sandboxes sandboxes;
    private final Waking waking;

    /// Whether a call thaws the paused sandbox that it is for.
    public enum Waking {
        ON_TRAFFIC,
        BY_HAND
    }

    public Callers(Sandboxes sandboxes, Waking waking) {
        this.sandboxes = sandboxes;
        this.waking = waking;
    }

    /// The caller's sandbox with this id, as it was sent, awake; throws [Failure.NoSuchSandbox] otherwise.
    Sandbox require(Principal caller, String id) {
        return awake(find(caller, id));
    }

    /// The caller's sandbox with this id, as it was sent and in whatever state.
    Sandbox find(Principal caller, String id) {
        if (!SandboxId.isWellFormed(id)) {
            throw unknown(id);
        }
        return sandboxes.require(new SandboxId(id), caller::mayActFor);
    }

    /// The sandbox, thawed if it is paused and traffic wakes it. Otherwise what is then asked of it fails with
    /// `SandboxNotRunning`.
    public Sandbox awake(Sandbox sandbox) {
        if (waking == Waking.ON_TRAFFIC && sandbox.info().status() == Status.PAUSED) {
            sandbox.resume(PauseReason.TRAFFIC);
        }
        return sandbox;
    }

    /// The same for what does not fail by itself in a sandbox that stands still.
    public void requireAwake(Sandbox sandbox) {
        if (awake(sandbox).info().status() == Status.PAUSED) {
            throw new SandboxException(new Failure.SandboxNotRunning(sandbox.id(), Status.PAUSED));
        }
    }

    /// Fails with `NoDiskSpace` when the server's disk is full: an upload would take the last space from the store.
    void requireSpaceForUpload() {
        sandboxes.diskSpace().requireWritable("upload a file");
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= SHOWN_ID ? id : id.substring(0, SHOWN_ID) + "…";
        return new SandboxException(new Failure.NoSuchSandbox(shown, Optional.empty()));
    }
}
