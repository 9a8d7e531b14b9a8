package dev.vivarium.server.api;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Status;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.http.Exchange;

/// Lookup of the sandbox of a request. It starts a hibernated sandbox again, and resumes a paused one if [ResumePolicy]
/// allows it. Thread-safe.
public final class SandboxResolver {
    private final Sandboxes sandboxes;
    private final SandboxLookup lookup;
    private final ResumePolicy resumePolicy;

    /// Whether a request resumes its paused sandbox.
    public enum ResumePolicy {
        ON_TRAFFIC,
        EXPLICIT
    }

    public SandboxResolver(Sandboxes sandboxes, SandboxLookup lookup, ResumePolicy resumePolicy) {
        this.sandboxes = sandboxes;
        this.lookup = lookup;
        this.resumePolicy = resumePolicy;
    }

    /// Returns the caller's sandbox, resumed if necessary. Fails with [Failure.NoSuchSandbox].
    Sandbox require(Exchange exchange, String id) {
        return resumed(find(exchange, id));
    }

    /// Returns a sandbox for its owner or for a member with the scope `needed`, resumed if necessary. Fails with
    /// [Failure.NoSuchSandbox].
    Sandbox require(Exchange exchange, String id, Scope needed) {
        exchange.concerns(id);
        Sandbox sandbox = lookup.permitted(exchange.principal(), id, needed);
        exchange.concerns(sandbox.info());
        return resumed(sandbox);
    }

    /// Returns the caller's sandbox in any state. Fails with [Failure.NoSuchSandbox].
    Sandbox find(Exchange exchange, String id) {
        exchange.concerns(id);
        Sandbox sandbox = lookup.own(exchange.principal(), id);
        exchange.concerns(sandbox.info());
        return sandbox;
    }

    /// Starts the sandbox if it is hibernated, or resumes it if it is paused and requests resume sandboxes. A
    /// paused sandbox fails with `SandboxNotRunning` at the next call.
    public Sandbox resumed(Sandbox sandbox) {
        sandbox.wake();
        if (resumePolicy == ResumePolicy.ON_TRAFFIC && sandbox.info().status() == Status.PAUSED) {
            sandbox.resume(PauseReason.TRAFFIC);
        }
        return sandbox;
    }

    /// Fails if the sandbox is still paused after [#resumed]. For calls that do not fail by themselves in a paused
    /// sandbox.
    public void requireResumed(Sandbox sandbox) {
        if (resumed(sandbox).info().status() == Status.PAUSED) {
            throw new SandboxException(new Failure.SandboxNotRunning(sandbox.id(), Status.PAUSED));
        }
    }

    /// Fails with `NoDiskSpace` if the disk of the server is full. An upload would use the space that the store
    /// needs.
    void requireSpaceForUpload() {
        sandboxes.diskSpace().requireWritable("upload a file");
    }
}
