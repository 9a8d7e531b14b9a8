package dev.vivarium.server.api;

import dev.vivarium.server.http.Exchange;

/// Path of a file in the URL of a request. The guest decides which paths are allowed. Stateless.
final class WorkspacePath {
    private WorkspacePath() {}

    /// Returns the path relative to the workspace, which is `""`. Removes a trailing slash.
    static String of(Exchange exchange) {
        String path = exchange.path("path");
        return path.endsWith("/") && path.length() > 1 ? path.substring(0, path.length() - 1) : path;
    }
}
