package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;

/// `POST /threads/{thread_id}/sandbox/revoke`: revokes one token of the sandbox of a thread, or all. The holder of a
/// token may revoke it. Thread-safe.
public final class RevokeHandler {
    private static final ObjectType<Revoke> REQUEST = object(
                    "Revoke", Revoke::new, optional("jti", STRING), optional("all", BOOLEAN))
            .closed();
    private static final ObjectType<Revoked> REVOKED = object(
            "RevokedToken",
            constant("status", "revoked"),
            field("sandbox_id", SANDBOX_ID, Revoked::sandbox),
            optional("jti", STRING, Revoked::jti));

    private record Revoke(Optional<String> jti, Optional<Boolean> all) {}

    private record Revoked(SandboxId sandbox, Optional<String> jti) {}

    public static final RouteDescription REVOKE = RouteDescription.post("/threads/{thread_id}/sandbox/revoke", TOKEN)
            .named("revokeToken", "Revoke one token of a sandbox or all of them")
            .takes(REQUEST)
            .answers(200, "The token is no longer valid.", REVOKED)
            .fails(429, "Too many attempts. Retry later.");

    private final ThreadResolver resolver;
    private final Tokens tokens;
    private final Audit audit;
    private final InstantSource clock;

    public RevokeHandler(ThreadResolver resolver, Tokens tokens, Audit audit, InstantSource clock) {
        this.resolver = resolver;
        this.tokens = tokens;
        this.audit = audit;
        this.clock = clock;
    }

    public void handle(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        var request = exchange.json(REQUEST);
        var jti = request.jti();
        boolean all = request.all().orElse(false);
        require(jti.isPresent() != all, "jti", "or all is required, and not both");
        if (!isOwn(exchange.principal(), jti)) {
            resolver.requireOwner(exchange);
        }
        var info = resolver.sandbox(access).info();
        exchange.keepOpenAfterRevocation();
        if (all) {
            tokens.rotate(info.id());
            record(exchange, info, AuditEntry.Kind.ROTATED, "");
        } else {
            tokens.revoke(info.id(), jti.orElseThrow());
            record(exchange, info, AuditEntry.Kind.REVOKED, jti.orElseThrow());
        }
        exchange.answer(200, REVOKED, new Revoked(info.id(), jti));
    }

    private static boolean isOwn(Principal principal, Optional<String> jti) {
        return principal instanceof Principal.Holder(var grant) && jti.equals(Optional.of(grant.jti()));
    }

    private void record(Exchange exchange, SandboxInfo info, AuditEntry.Kind kind, String detail) {
        exchange.markAudited();
        audit.record(AuditEntry.of(clock.instant(), kind, 200, REVOKE.route())
                .by(exchange.principal())
                .on(info.id(), info.key())
                .detail(detail));
    }
}
