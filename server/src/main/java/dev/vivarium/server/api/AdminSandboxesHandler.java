package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;
import java.time.InstantSource;

/// `/admin/sandboxes`: lists all there are, ends one, ends all tokens of one. For admins. Thread-safe.
public final class AdminSandboxesHandler {
    private static final String KILL = "DELETE /admin/sandboxes/{sandbox_id}";
    private static final String ROTATE = "POST /admin/sandboxes/{sandbox_id}/rotate";

    private final Sandboxes sandboxes;
    private final Callers callers;
    private final EndSandbox end;
    private final Tokens tokens;
    private final Audit audit;
    private final InstantSource clock;

    public AdminSandboxesHandler(
            Sandboxes sandboxes, Callers callers, EndSandbox end, Tokens tokens, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.end = end;
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
        var sandbox = require(exchange);
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "ended by the admin", KILL));
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "killed");
            out.writeStringProperty("sandbox_id", sandbox.id().value());
        });
    }

    /// `POST /admin/sandboxes/{sandbox_id}/rotate`: gives it another key, so that every token of it ends.
    public void rotate(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var info = require(exchange).info();
        tokens.rotate(info.id());
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ROTATED, 200, ROTATE)
                .by(exchange.principal())
                .on(info.id(), info.thread()));
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "rotated");
            out.writeStringProperty("sandbox_id", info.id().value());
        });
    }

    private Sandbox require(Exchange exchange) {
        return callers.find(exchange.principal(), exchange.path("sandbox_id"));
    }
}
