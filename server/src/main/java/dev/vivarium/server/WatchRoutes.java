package dev.vivarium.server;

import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes for files, their earlier versions and the output of terminals. Stateless.
final class WatchRoutes {
    private WatchRoutes() {}

    static List<Route> of(ViewHandler view) {
        return List.of(
                ViewHandler.TREE.to(view::tree),
                ViewHandler.FILE.to(view::file),
                ViewHandler.DIFF.to(view::diff),
                ViewHandler.TERMINAL.to(view::terminal));
    }
}
