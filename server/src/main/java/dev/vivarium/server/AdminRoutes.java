package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.ADMIN;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the audit and of administration.
final class AdminRoutes {
    private AdminRoutes() {}

    static List<Route> of(AuditHandler audit, AdminSandboxesHandler sandboxes, KeysHandler keys) {
        return List.of(
                Route.get("/threads/{thread_id}/audit", KEY, audit::ofThread),
                Route.get("/admin/audit", ADMIN, audit::ofAll),
                Route.get("/admin/sandboxes", ADMIN, sandboxes::list),
                Route.delete("/admin/sandboxes/{sandbox_id}", ADMIN, sandboxes::kill),
                Route.post("/admin/sandboxes/{sandbox_id}/rotate", ADMIN, sandboxes::rotate),
                Route.post("/admin/keys", ADMIN, keys::issue),
                Route.get("/admin/keys", ADMIN, keys::list),
                Route.delete("/admin/keys/{key_id}", ADMIN, keys::revoke));
    }
}
