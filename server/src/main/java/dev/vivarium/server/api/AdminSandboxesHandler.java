package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.InstantSource;

/// `/admin/sandboxes`: lists all there are, ends one, ends all tokens of one. For admins. Thread-safe.
public final class AdminSandboxesHandler {
    private final Sandboxes sandboxes;
    private final Callers callers;
    private final Tokens tokens;
    private final Audit audit;
    private final InstantSource clock;

    public AdminSandboxesHandler(
            Sandboxes sandboxes, Callers callers, Tokens tokens, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.tokens = tokens;
        this.audit = audit;
        this.clock = clock;
    }

    /// `GET /admin/sandboxes`.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var all = sandboxes.list();
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("sandboxes");
            for (SandboxInfo info : all) {
                out.writeStartObject();
                ThreadHandler.write(out, info);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    /// `DELETE /admin/sandboxes/{sandbox_id}`: ends it, whatever it does.
    public void kill(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var info = require(exchange);
        sandboxes.terminate(info.id(), End.Cause.USER, "ended by the admin");
        record(exchange, info, AuditEntry.Kind.ENDED, "DELETE /admin/sandboxes/{sandbox_id}");
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "killed");
            out.writeStringProperty("sandbox_id", info.id().value());
        });
    }

    /// `POST /admin/sandboxes/{sandbox_id}/rotate`: gives it another key, so that every token of it ends.
    public void rotate(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var info = require(exchange);
        tokens.rotate(info.id());
        record(exchange, info, AuditEntry.Kind.ROTATED, "POST /admin/sandboxes/{sandbox_id}/rotate");
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "rotated");
            out.writeStringProperty("sandbox_id", info.id().value());
        });
    }

    private SandboxInfo require(Exchange exchange) {
        return callers.find(exchange.principal(), exchange.path("sandbox_id")).info();
    }

    private void record(Exchange exchange, SandboxInfo info, AuditEntry.Kind kind, String route) {
        audit.record(AuditEntry.of(clock.instant(), kind, 200, route)
                .by(exchange.principal())
                .on(info.id(), info.thread()));
    }
}
