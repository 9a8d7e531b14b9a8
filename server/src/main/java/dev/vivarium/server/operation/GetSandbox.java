package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.server.access.SandboxLookup;
import java.util.Optional;

/// Operation that returns the state of the caller's sandbox. Thread-safe.
public final class GetSandbox {
    private final SandboxLookup lookup;

    public GetSandbox(SandboxLookup lookup) {
        this.lookup = lookup;
    }

    /// @param files number of files in the workspace; empty if the sandbox does not run
    public record Result(SandboxInfo sandbox, Optional<Long> files) {}

    /// Fails with [dev.vivarium.model.Failure.NoSandboxForThread].
    public Result get(Principal caller, ThreadId thread) {
        var sandbox = lookup.own(caller, thread);
        var files = files(sandbox);
        return new Result(sandbox.info(), files);
    }

    private static Optional<Long> files(Sandbox sandbox) {
        return sandbox.info().status() == Status.RUNNING
                ? Optional.of(sandbox.look().list("", ListDepth.ALL, 1).totalFiles())
                : Optional.empty();
    }
}
