package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.access.ThreadName;
import java.util.Optional;

/// Operation that returns the state of the sandbox of a thread. Thread-safe.
public final class GetSandbox {
    private final SandboxLookup lookup;

    public GetSandbox(SandboxLookup lookup) {
        this.lookup = lookup;
    }

    /// @param files number of files in the workspace, if it is known
    public record Result(SandboxInfo sandbox, Optional<Long> files) {}

    /// Fails with [dev.vivarium.model.Failure.NoSandboxForThread].
    public Result get(Principal caller, ThreadName name) {
        var sandbox = lookup.sandbox(caller, name);
        var files = sandbox.countFiles();
        return new Result(sandbox.info(), files);
    }
}
