package dev.vivarium.server.http;

import org.eclipse.jetty.server.Request;

/// Which routes there are depends on where one comes from. Immutable.
///
/// @param outside what answers to all the world
/// @param inside what programs in sandboxes reach through their doors; for them there is nothing else
public record Routers(Router outside, Router inside) {
    Router of(Request request) {
        return VisitEndPoint.of(request).isPresent() ? inside : outside;
    }
}
