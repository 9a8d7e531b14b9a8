package dev.vivarium.server.http;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/// Finds the route for a method and a path. Immutable.
public final class Router {
    private final List<Route> routes;

    /// Paths without parameters, which are nearly all: found by one look.
    private final Map<String, Map<String, Route>> plain = new HashMap<>();

    public Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
        for (Route route : routes) {
            plain.computeIfAbsent(route.template(), ignored -> new HashMap<>()).put(route.method(), route);
        }
    }

    public List<Route> routes() {
        return routes;
    }

    /// A route and what the path says for its parameters.
    record Match(Route route, Map<String, String> parameters) {}

    /// The route that answers, if there is one. `HEAD` is answered by what answers `GET`.
    Optional<Match> find(String method, String path) {
        String wanted = method.equals("HEAD") ? "GET" : method;
        var exact = plain.get(path);
        if (exact != null && exact.get(wanted) != null) {
            return Optional.of(new Match(exact.get(wanted), Map.of()));
        }
        var segments = Paths.split(path);
        for (Route route : routes) {
            if (route.method().equals(wanted)) {
                var parameters = match(route.segments(), segments);
                if (parameters.isPresent()) {
                    return Optional.of(new Match(route, parameters.get()));
                }
            }
        }
        return Optional.empty();
    }

    /// The methods that the path answers to, for `Allow`; empty when there is no such path.
    List<String> methods(String path) {
        var segments = Paths.split(path);
        var methods = new TreeSet<String>();
        for (Route route : routes) {
            if (match(route.segments(), segments).isPresent()) {
                methods.add(route.method());
            }
        }
        if (methods.contains("GET")) {
            methods.add("HEAD");
        }
        return List.copyOf(methods);
    }

    private static Optional<Map<String, String>> match(List<String> template, List<String> segments) {
        if (template.size() != segments.size()) {
            return Optional.empty();
        }
        var parameters = new LinkedHashMap<String, String>();
        for (int i = 0; i < template.size(); i++) {
            String part = template.get(i);
            String segment = segments.get(i);
            if (part.startsWith("{")) {
                String name = part.substring(1, part.length() - 1);
                parameters.put(name, Paths.decode(name, segment));
            } else if (!part.equals(segment)) {
                return Optional.empty();
            }
        }
        return Optional.of(parameters);
    }
}
