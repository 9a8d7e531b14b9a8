package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;

/// `POST /threads/{thread_id}/sandbox/revoke`: ends one token of the thread's sandbox, or all. Whoever holds a token
/// may end that one. Thread-safe.
public final class RevokeHandler {
    private static final String ROUTE = "POST /threads/{thread_id}/sandbox/revoke";

    private final ThreadCallers callers;
    private final Tokens tokens;
    private final Audit audit;
    private final InstantSource clock;

    public RevokeHandler(ThreadCallers callers, Tokens tokens, Audit audit, InstantSource clock) {
        this.callers = callers;
        this.tokens = tokens;
        this.audit = audit;
        this.clock = clock;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        var fields = exchange.json();
        var jti = fields.optionalString("jti");
        boolean all = fields.optionalFlag("all").orElse(false);
        fields.refuseOthers();
        if (jti.isPresent() == all) {
            throw new SandboxException(new Failure.InvalidRequest("jti", "or all is required, and not both"));
        }
        if (!isOwn(exchange.principal(), jti)) {
            callers.requireOwner(exchange);
        }
        var info = callers.sandbox(visit).info();
        exchange.endsItsRight();
        if (all) {
            tokens.rotate(info.id());
            record(exchange, info, AuditEntry.Kind.ROTATED, "");
        } else {
            tokens.revoke(info.id(), jti.orElseThrow());
            record(exchange, info, AuditEntry.Kind.REVOKED, jti.orElseThrow());
        }
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "revoked");
            out.writeStringProperty("sandbox_id", info.id().value());
            jti.ifPresent(id -> out.writeStringProperty("jti", id));
        });
    }

    private static boolean isOwn(Principal principal, Optional<String> jti) {
        return principal instanceof Principal.Holder(var grant) && jti.equals(Optional.of(grant.jti()));
    }

    private void record(Exchange exchange, SandboxInfo info, AuditEntry.Kind kind, String detail) {
        audit.record(AuditEntry.of(clock.instant(), kind, 200, ROUTE)
                .by(exchange.principal())
                .on(info.id(), info.thread())
                .detail(detail));
    }
}
