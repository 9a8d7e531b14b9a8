package dev.vivarium.server.http;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/// Routing table by method and path. If two routes match, the first one wins. Immutable.
public final class Router {
    private final List<Route> routes;
    private final List<HostRoute> hostRoutes;
    private final List<PathTemplate> templates;

    /// Routes without path parameters, for a lookup without a scan.
    private final Map<String, Map<String, Route>> plain = new HashMap<>();

    public Router(List<Route> routes) {
        this(routes, List.of());
    }

    /// `hostRoutes` take precedence: a host that matches one of them has no other routes.
    public Router(List<Route> routes, List<HostRoute> hostRoutes) {
        this.routes = List.copyOf(routes);
        this.hostRoutes = List.copyOf(hostRoutes);
        this.templates = routes.stream().map(PathTemplate::of).toList();
        for (Route route : routes) {
            plain.computeIfAbsent(route.template(), ignored -> new HashMap<>()).put(route.method(), route);
        }
    }

    public List<Route> routes() {
        return routes;
    }

    /// A route and its path parameters, raw and decoded once.
    record Match(Route route, Map<String, String> raw, Map<String, String> parameters) {
        static Match of(Route route, Map<String, String> raw) {
            var decoded = new LinkedHashMap<String, String>();
            raw.forEach((name, value) -> {
                // The rest of a proxied path may have any encoding, so the server forwards it unchanged.
                if (!(route.access() instanceof Route.Access.Own)
                        || !route.template().endsWith("{" + name + "…}")) {
                    decoded.put(name, Paths.decode(name, value));
                }
            });
            return new Match(route, raw, decoded);
        }
    }

    /// Returns the route for a request at a host, if there is one.
    Optional<Match> find(String method, String host, String path) {
        for (HostRoute hostRoute : hostRoutes) {
            var parameters = hostRoute.hosts().apply(host);
            if (parameters.isPresent()) {
                return Optional.of(Match.of(hostRoute.route(), parameters.get()));
            }
        }
        return find(method, path);
    }

    /// Returns the route for a request, if there is one. A `GET` route also handles `HEAD`.
    Optional<Match> find(String method, String path) {
        String wanted = method.equals("HEAD") ? "GET" : method;
        var exact = plain.get(path);
        if (exact != null && exact.get(wanted) != null) {
            return Optional.of(Match.of(exact.get(wanted), Map.of()));
        }
        var segments = Paths.split(path);
        for (PathTemplate template : templates) {
            String answered = template.route().method();
            if (answered.equals(wanted) || answered.equals(Route.ANY)) {
                var raw = template.match(segments);
                if (raw.isPresent()) {
                    return Optional.of(Match.of(template.route(), raw.get()));
                }
            }
        }
        return Optional.empty();
    }

    /// Returns the methods of a path, for `Allow`. Empty if the path does not exist.
    List<String> methods(String path) {
        var segments = Paths.split(path);
        var methods = new TreeSet<String>();
        for (PathTemplate template : templates) {
            if (template.match(segments).isPresent()) {
                methods.add(template.route().method());
            }
        }
        if (methods.contains("GET")) {
            methods.add("HEAD");
        }
        return List.copyOf(methods);
    }
}
