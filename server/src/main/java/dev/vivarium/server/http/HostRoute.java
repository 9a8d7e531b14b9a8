package dev.vivarium.server.http;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// Route for hosts, independent of the path. `hosts` returns the route parameters for a matching `Host` header.
/// Immutable.
public record HostRoute(Function<String, Optional<Map<String, String>>> hosts, Route route) {}
