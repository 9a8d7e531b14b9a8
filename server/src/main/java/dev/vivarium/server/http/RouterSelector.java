package dev.vivarium.server.http;

import java.util.Optional;
import org.eclipse.jetty.server.Request;

/// Choice of the router by the source of a request. Immutable.
///
/// @param outside API for clients
/// @param pages fallback for clients, which is not part of the API
/// @param inside routes for programs in sandboxes, through their control ports; they have no other routes
public record RouterSelector(Router outside, Router pages, Router inside) {
    Router of(Request request) {
        return InsideEndPoint.of(request).isPresent() ? inside : outside;
    }

    /// Returns the route for a request, if there is one.
    Optional<Router.Match> find(Request request, String host, String path) {
        Router api = of(request);
        var found = api.find(request.getMethod(), host, path);
        return found.isPresent() || api == inside ? found : pages.find(request.getMethod(), path);
    }
}
