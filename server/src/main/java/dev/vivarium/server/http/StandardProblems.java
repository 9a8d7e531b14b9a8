package dev.vivarium.server.http;

import dev.vivarium.json.ProblemJson;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/// Problem responses that routes share. Stateless.
final class StandardProblems {
    private static final Map<Integer, String> TEXTS = Map.ofEntries(
            Map.entry(400, "The request is invalid. `field` and `rule` name the error."),
            Map.entry(401, "The credential is missing or invalid."),
            Map.entry(403, "The credential does not permit this operation."),
            Map.entry(404, "The resource does not exist, or the caller may not see it."),
            Map.entry(409, "The current state does not allow the operation."),
            Map.entry(410, "The sandbox ended during the request."),
            Map.entry(412, "The file does not meet the precondition of the request."),
            Map.entry(413, "The body is too large."),
            Map.entry(415, "The media type of the body is not supported."),
            Map.entry(422, "The request is invalid. `field` and `rule` name the error."),
            Map.entry(426, "The request is not a WebSocket handshake."),
            Map.entry(429, "The caller has too many requests in flight, see `Retry-After`, or has reached a quota."),
            Map.entry(500, "Internal error. The log has the cause under `request_id`."),
            Map.entry(501, "The provider of this server does not support this operation."),
            Map.entry(502, "The sandbox does not respond."),
            Map.entry(503, "The server has no capacity or is shutting down. See `Retry-After`."),
            Map.entry(507, "The disk of the server has too little free space. See `Retry-After`."));

    private StandardProblems() {}

    static String text(int status) {
        String text = TEXTS.get(status);
        if (text == null) {
            throw new IllegalArgumentException("status " + status + " has no standard text");
        }
        return text;
    }

    static RouteDescription.Response problem(int status, String text) {
        return new RouteDescription.Response(
                String.valueOf(status), text, Map.of(ProblemJson.CONTENT_TYPE, ProblemJson.PROBLEM), Map.of());
    }

    /// Returns the problems that follow from the access class and from the body. A route that validates with 422
    /// does not respond with 400.
    static List<RouteDescription.Response> of(RouteDescription route, boolean takesJson) {
        var statuses = new TreeSet<Integer>();
        switch (route.access()) {
            case Route.Access.Open _, Route.Access.Own _, Route.Access.FirstMessage _ -> {}
            case Route.Access.Key _ -> statuses.addAll(List.of(400, 401, 429, 503));
            case Route.Access.Admin _, Route.Access.Worker _ -> statuses.addAll(List.of(400, 401, 403, 429, 503));
            case Route.Access.Token _, Route.Access.Scoped _, Route.Access.Kept _, Route.Access.Inside _ ->
                statuses.addAll(List.of(400, 401, 403, 404, 429, 503));
        }
        if (route.isOfThread()) {
            statuses.add(409);
        }
        if (route.validatesWith422()) {
            statuses.remove(400);
        }
        if (route.isIdempotent()) {
            statuses.addAll(List.of(409, 422));
        }
        if (takesJson) {
            statuses.addAll(List.of(413, 415));
        }
        return statuses.stream().map(status -> problem(status, text(status))).toList();
    }
}
