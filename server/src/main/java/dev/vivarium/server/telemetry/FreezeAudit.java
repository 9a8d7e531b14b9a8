package dev.vivarium.server.telemetry;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.SandboxInfo;
import java.time.InstantSource;

/// Audit of the sandboxes that the server froze by itself, with the reason. Thread-safe.
public final class FreezeAudit implements SandboxListener {
    private static final int INSUFFICIENT_STORAGE = 507;

    private final Audit audit;
    private final InstantSource clock;

    public FreezeAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    @Override
    public void paused(SandboxInfo sandbox, PauseReason why) {
        if (why.cause() == PauseReason.Cause.DISK) {
            audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.FROZEN, INSUFFICIENT_STORAGE, "disk guard")
                    .on(sandbox.id(), sandbox.key())
                    .detail(why.detail()));
        }
    }
}
