package dev.vivarium.server.socket;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.Principal;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Caller;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/// Audit of one kind of sockets. Entries contain no token. Thread-safe.
final class SocketAudit {
    private static final int DONE = 200;

    private final Audit audit;
    private final InstantSource clock;
    private final String route;

    /// @param route route in the entries
    SocketAudit(Audit audit, InstantSource clock, String route) {
        this.audit = audit;
        this.clock = clock;
        this.route = route;
    }

    Instant now() {
        return clock.instant();
    }

    /// Records an action of an authenticated client.
    void did(Caller caller, Kind kind, String detail) {
        audit.record(of(caller, kind, DONE).detail(detail));
    }

    /// Records a refused message or a lost right of an authenticated client.
    void refused(Caller caller, Failure failure) {
        audit.record(of(caller, Kind.REFUSED, ProblemJson.status(failure)).detail(failure.slug()));
    }

    /// Records a refused authentication.
    void refused(String sandboxId, Optional<Principal> who, Failure failure) {
        var entry = AuditEntry.of(now(), Kind.REFUSED, ProblemJson.status(failure), route)
                .detail(failure.slug());
        var named = who.map(entry::by).orElse(entry);
        audit.record(SandboxId.isWellFormed(sandboxId) ? named.onSandbox(new SandboxId(sandboxId)) : named);
    }

    private AuditEntry of(Caller caller, Kind kind, int outcome) {
        var entry = AuditEntry.of(now(), kind, outcome, route)
                .by(caller.principal().orElseThrow())
                .scopes(caller.scopes());
        return caller.sandbox()
                .map(sandbox -> entry.on(sandbox.id(), sandbox.info().key()))
                .orElse(entry);
    }
}
