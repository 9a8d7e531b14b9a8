package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.http.HostRoute;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.preview.PreviewHosts;
import java.util.List;

/// Routes to the ports of sandboxes. Stateless.
final class PreviewRoutes {
    private PreviewRoutes() {}

    static List<Route> of(PreviewHandler preview) {
        return List.of(PreviewHandler.ADD_SLASH.to(preview::addSlash), PreviewHandler.PREVIEW.to(preview::byPath));
    }

    static List<HostRoute> hosts(PreviewHandler preview, String domain) {
        var hosts = new PreviewHosts(domain);
        return List.of(new HostRoute(hosts::find, Route.undocumented(Route.ANY, "/{rest…}", OWN, preview::byHost)));
    }
}
