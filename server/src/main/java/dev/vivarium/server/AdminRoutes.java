package dev.vivarium.server;

import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the audit and of administration. Stateless.
final class AdminRoutes {
    private AdminRoutes() {}

    static List<Route> of(AuditHandler audit, AdminSandboxesHandler sandboxes, KeysHandler keys) {
        return List.of(
                AuditHandler.OF_THREAD.to(audit::ofThread),
                AuditHandler.OF_ALL.to(audit::ofAll),
                AdminSandboxesHandler.LIST.to(sandboxes::list),
                AdminSandboxesHandler.KILL.to(sandboxes::kill),
                AdminSandboxesHandler.ROTATE.to(sandboxes::rotate),
                KeysHandler.ISSUE.to(keys::issue),
                KeysHandler.LIST.to(keys::list),
                KeysHandler.REVOKE.to(keys::revoke));
    }
}
