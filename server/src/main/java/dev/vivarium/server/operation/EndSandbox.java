package dev.vivarium.server.operation;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import java.time.InstantSource;

/// Operation that ends a sandbox and records the end in the audit. Thread-safe.
public final class EndSandbox {
    private static final int DONE = 200;

    private final Sandboxes sandboxes;
    private final Audit audit;
    private final InstantSource clock;

    public EndSandbox(Sandboxes sandboxes, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.audit = audit;
        this.clock = clock;
    }

    /// @param reason stored as the reason of the end
    /// @param action name of the action in the audit
    public record Request(Sandbox sandbox, String reason, String action) {}

    public void end(Principal caller, Request request) {
        var info = request.sandbox.info();
        sandboxes.terminate(info.id(), End.Cause.USER, request.reason);
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ENDED, DONE, request.action)
                .by(caller)
                .on(info.id(), info.key()));
    }
}
