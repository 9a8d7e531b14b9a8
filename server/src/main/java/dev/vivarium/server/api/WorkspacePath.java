package dev.vivarium.server.api;

import dev.vivarium.server.http.Exchange;

/// The path of a file in the address of a request. What it may lead to is decided by the guest. Stateless.
final class WorkspacePath {
    private WorkspacePath() {}

    /// Relative to the workspace, which is `""`. A slash at the end, as people write directories, is left out.
    static String of(Exchange exchange) {
        String path = exchange.path("path");
        return path.endsWith("/") && path.length() > 1 ? path.substring(0, path.length() - 1) : path;
    }
}
