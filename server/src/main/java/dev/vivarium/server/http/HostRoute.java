package dev.vivarium.server.http;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// Hosts that belong to one route, whatever the path: `hosts` gives the route's parameters for a `Host` header that is
/// one of them. Immutable.
public record HostRoute(Function<String, Optional<Map<String, String>>> hosts, Route route) {}
