package dev.vivarium.server.socket;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.telemetry.Telemetry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/// Tells the audit who came into which shell, who typed there and who was refused; never what was typed, and never a
/// token. Thread-safe.
public final class ShellWitness {
    private static final String ROUTE = "GET /sandboxes/{sandbox_id}/shell";
    private static final int DONE = 200;

    private final Audit audit;
    private final Telemetry telemetry;
    private final InstantSource clock;

    public ShellWitness(Audit audit, Telemetry telemetry, InstantSource clock) {
        this.audit = audit;
        this.telemetry = telemetry;
        this.clock = clock;
    }

    Instant now() {
        return clock.instant();
    }

    /// Somebody is in a shell now.
    void entered(Caller caller, Viewer viewer) {
        audit.record(
                of(caller, Kind.USED, DONE).detail(Messages.role(viewer.who().role()) + " in " + id(viewer)));
    }

    void typed(Caller caller, Viewer viewer, int characters) {
        caller.sandbox().ifPresent(sandbox -> telemetry.typed(viewer, sandbox, characters));
        audit.record(of(caller, Kind.TYPED, DONE).detail(characters + " characters in " + id(viewer)));
    }

    void signalled(Caller caller, Viewer viewer, Signal signal) {
        audit.record(of(caller, Kind.TYPED, DONE).detail("signal " + signal + " to " + id(viewer)));
    }

    /// Somebody who is in a shell asked for what they may not do, or may not be there any longer.
    void refused(Caller caller, Failure failure) {
        audit.record(of(caller, Kind.REFUSED, ProblemJson.status(failure)).detail(failure.slug()));
    }

    /// Somebody was not let in.
    void refused(String sandboxId, Optional<Principal> who, Failure failure) {
        var entry = AuditEntry.of(now(), Kind.REFUSED, ProblemJson.status(failure), ROUTE)
                .detail(failure.slug());
        var named = who.map(entry::by).orElse(entry);
        audit.record(SandboxId.isWellFormed(sandboxId) ? named.onSandbox(new SandboxId(sandboxId)) : named);
    }

    private AuditEntry of(Caller caller, Kind kind, int outcome) {
        var info = caller.sandbox().orElseThrow().info();
        return AuditEntry.of(now(), kind, outcome, ROUTE)
                .by(caller.principal().orElseThrow())
                .on(info.id(), info.thread())
                .scopes(caller.scopes());
    }

    private static String id(Viewer viewer) {
        return viewer.shell().id().value();
    }
}
