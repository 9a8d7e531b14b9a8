package dev.vivarium.server;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes that show files, their earlier versions and the output of terminals.
final class WatchRoutes {
    private static final String SANDBOX = "/api/v1/sandboxes/{sandbox_id}";

    private WatchRoutes() {}

    static List<Route> of(ViewHandler view) {
        return List.of(
                Route.get(SANDBOX + "/files", Route.Access.scoped(Scope.FS_RO), view::tree),
                Route.get(SANDBOX + "/files/{path…}", Route.Access.kept(Scope.FS_RO), view::file),
                Route.get(SANDBOX + "/diff", Route.Access.kept(Scope.FS_RO), view::diff),
                Route.get(SANDBOX + "/terminal", Route.Access.kept(Scope.SHELL_RO), view::terminal));
    }
}
