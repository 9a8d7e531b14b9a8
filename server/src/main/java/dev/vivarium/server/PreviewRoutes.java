package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.http.HostRoute;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.preview.PreviewHosts;
import java.util.List;

/// Routes to the ports of sandboxes.
final class PreviewRoutes {
    private static final String PORT = "/sandboxes/{sandbox_id}/ports/{port}";

    private PreviewRoutes() {}

    static List<Route> of(PreviewHandler preview) {
        return List.of(Route.any(PORT, OWN, preview::addSlash), Route.any(PORT + "/{rest…}", OWN, preview::byPath));
    }

    static List<HostRoute> hosts(PreviewHandler preview, String domain) {
        var hosts = new PreviewHosts(domain);
        return List.of(new HostRoute(hosts::find, Route.any("/{rest…}", OWN, preview::byHost)));
    }
}
