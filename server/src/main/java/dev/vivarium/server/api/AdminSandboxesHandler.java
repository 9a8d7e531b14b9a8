package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.ADMIN;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;

/// `/admin/sandboxes`: lists all sandboxes, ends one, revokes all tokens of one. For admins. Thread-safe.
public final class AdminSandboxesHandler {
    private static final ObjectType<List<SandboxInfo>> SANDBOXES = object(
            "AdminSandboxes",
            field(
                    "sandboxes",
                    JsonType.list(ThreadHandler.SANDBOX),
                    all -> all.stream().map(ThreadHandler.View::of).toList()));
    private static final ObjectType<Done> DONE = object(
            "AdminDone",
            field("status", STRING.with("enum", List.of("killed", "rotated")), Done::status),
            field("sandbox_id", SANDBOX_ID, Done::sandbox));

    private record Done(String status, SandboxId sandbox) {}

    public static final RouteDescription LIST = RouteDescription.get("/admin/sandboxes", ADMIN)
            .named("listSandboxes", "List all sandboxes")
            .answers(200, "Oldest first.", SANDBOXES);

    public static final RouteDescription KILL = RouteDescription.delete("/admin/sandboxes/{sandbox_id}", ADMIN)
            .named("killSandbox", "End any sandbox")
            .answers(200, "The sandbox has ended.", DONE)
            .fails(404);

    public static final RouteDescription ROTATE = RouteDescription.post("/admin/sandboxes/{sandbox_id}/rotate", ADMIN)
            .named("rotateKey", "Revoke all tokens of a sandbox")
            .answers(200, "The sandbox has a new token key.", DONE)
            .fails(404);

    private final Sandboxes sandboxes;
    private final SandboxResolver resolver;
    private final EndSandbox end;
    private final Tokens tokens;
    private final Audit audit;
    private final InstantSource clock;

    public AdminSandboxesHandler(
            Sandboxes sandboxes,
            SandboxResolver resolver,
            EndSandbox end,
            Tokens tokens,
            Audit audit,
            InstantSource clock) {
        this.sandboxes = sandboxes;
        this.resolver = resolver;
        this.end = end;
        this.tokens = tokens;
        this.audit = audit;
        this.clock = clock;
    }

    /// `GET /admin/sandboxes`.
    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, SANDBOXES, sandboxes.list());
    }

    /// `DELETE /admin/sandboxes/{sandbox_id}`.
    public void kill(Exchange exchange) throws IOException {
        var sandbox = require(exchange);
        exchange.markAudited();
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "ended by the admin", KILL.route()));
        exchange.answer(200, DONE, new Done("killed", sandbox.id()));
    }

    /// `POST /admin/sandboxes/{sandbox_id}/rotate`: replaces the token key, which revokes all tokens.
    public void rotate(Exchange exchange) throws IOException {
        var info = require(exchange).info();
        tokens.rotate(info.id());
        exchange.markAudited();
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ROTATED, 200, ROTATE.route())
                .by(exchange.principal())
                .on(info.id(), info.key()));
        exchange.answer(200, DONE, new Done("rotated", info.id()));
    }

    private Sandbox require(Exchange exchange) {
        return resolver.find(exchange, exchange.path("sandbox_id"));
    }
}
