package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.guard.liveness.Forensics;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.access.SandboxLookup;
import java.nio.file.Path;

/// Operation that finds the forensics of a run. Thread-safe.
public final class RunForensics {
    private final RunHistory history;
    private final Forensics forensics;

    public RunForensics(RunHistory history, Forensics forensics) {
        this.history = history;
        this.forensics = forensics;
    }

    /// Returns the bundle of a run, for callers who may read the files and the output of its sandbox. Fails with
    /// `no-forensics`.
    public Path find(Principal caller, String id) {
        Run run = history.require(caller, id);
        SandboxLookup.requireScope(history.scopes(caller, run).orElseThrow(), Scope.FS_RO);
        return forensics
                .find(run.id())
                .orElseThrow(() ->
                        new SandboxException(new RunFailure.NoForensics(run.id().value())));
    }
}
