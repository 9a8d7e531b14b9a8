package dev.vivarium.server.http;

import java.util.Optional;
import org.eclipse.jetty.server.Request;

/// Which routes there are depends on where one comes from. Immutable.
///
/// @param outside what answers to all the world
/// @param pages what answers to it where nothing else does: no part of the API
/// @param inside what programs in sandboxes reach through their doors; for them there is nothing else
public record RouterSelector(Router outside, Router pages, Router inside) {
    Router of(Request request) {
        return InsideEndPoint.of(request).isPresent() ? inside : outside;
    }

    /// The route that answers to a request for a path at a host.
    Optional<Router.Match> find(Request request, String host, String path) {
        Router api = of(request);
        var found = api.find(request.getMethod(), host, path);
        return found.isPresent() || api == inside ? found : pages.find(request.getMethod(), path);
    }
}
