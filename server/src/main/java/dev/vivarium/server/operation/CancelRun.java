package dev.vivarium.server.operation;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.model.Run;
import dev.vivarium.server.access.SandboxLookup;
import java.time.InstantSource;

/// Operation that stops a run and keeps its sandbox. Thread-safe.
public final class CancelRun {
    private static final int DONE = 202;

    private final RunHistory history;
    private final Agents agents;
    private final Audit audit;
    private final InstantSource clock;

    public CancelRun(RunHistory history, Agents agents, Audit audit, InstantSource clock) {
        this.history = history;
        this.agents = agents;
        this.audit = audit;
        this.clock = clock;
    }

    /// Fails with `no-run` if the run has ended.
    ///
    /// @param action name of the action in the audit
    public Run cancel(Principal caller, String id, String action) {
        Run run = history.require(caller, id);
        SandboxLookup.requireScope(history.scopes(caller, run).orElseThrow(), Scope.PROCESS);
        Run cancelled = agents.cancel(run, PauseReason.by(caller.name()));
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, DONE, action)
                .by(caller)
                .on(run.sandbox(), run.key()));
        return cancelled;
    }
}
