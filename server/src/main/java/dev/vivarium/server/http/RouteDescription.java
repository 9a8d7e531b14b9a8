package dev.vivarium.server.http;

import dev.vivarium.json.JsonType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// Declaration of a route: its address, its access class, and the types of its parameters, request and responses. The
/// OpenAPI document is generated from these declarations. Immutable.
///
/// The template is a path such as `/admin/keys/{key_id}`. A last parameter such as `{path…}` matches the rest of the
/// path, with slashes.
///
/// The declaration lists only the properties that are specific to the route. Path parameters come from the template.
/// The responses that every route of an access class can have come from [StandardProblems].
public record RouteDescription(
        String method, String template, Route.Access access, String id, String summary, List<Part> parts) {
    /// Query parameter of all routes of a thread: the owner of the thread.
    public static final String OWNER = "owner";

    private static final String USER_ID = "user_id";
    private static final String THREAD_ID = "{thread_id}";
    /// Description of [#OWNER].
    public static final String OWNER_TEXT =
            "The owner of the thread. Default: the caller if the caller has such a thread, else the only user who"
                    + " shares one with the caller.";
    private static final String JSON = "application/json";
    private static final String NDJSON = "application/x-ndjson";
    private static final String EVENT_STREAM = "text/event-stream";
    private static final String IDEMPOTENCY =
            "A repeated request with the same key returns the first answer, for 24 hours.";
    private static final Pattern PATH_PARAMETER = Pattern.compile("\\{(\\w+)…?}");

    private static final Map<String, Parameter> PATH_PARAMETERS = Map.of(
            "port",
            path("port", "", JsonType.INT.range(1, 65535)),
            "path",
            path(
                    "path",
                    "The rest of the path, relative to the workspace. Empty for the workspace itself. Slashes are not"
                            + " encoded.",
                    JsonType.STRING),
            "rest",
            path("rest", "The path at the program, including slashes. It may be empty.", JsonType.STRING));

    /// One statement of a declaration.
    public sealed interface Part {}

    /// Text below the summary.
    record Text(String text) implements Part {}

    /// The caller needs no credential.
    record Public() implements Part {}

    /// The handler accepts unknown query parameters.
    record AnyQuery() implements Part {}

    /// @param place `path`, `query` or `header`
    public record Parameter(String place, String name, boolean isRequired, String text, JsonType<?> type)
            implements Part {}

    /// Request body by media type.
    public record RequestBody(boolean isRequired, Map<String, JsonType<?>> content) implements Part {}

    /// Response by media type, with its own headers. A type may be absent.
    public record Response(
            String status, String text, Map<String, JsonType<?>> content, Map<String, JsonType<?>> headers)
            implements Part {}

    public static RouteDescription get(String template, Route.Access access) {
        return new RouteDescription("GET", template, access, "", "", List.of());
    }

    public static RouteDescription post(String template, Route.Access access) {
        return new RouteDescription("POST", template, access, "", "", List.of());
    }

    public static RouteDescription put(String template, Route.Access access) {
        return new RouteDescription("PUT", template, access, "", "", List.of());
    }

    public static RouteDescription patch(String template, Route.Access access) {
        return new RouteDescription("PATCH", template, access, "", "", List.of());
    }

    public static RouteDescription delete(String template, Route.Access access) {
        return new RouteDescription("DELETE", template, access, "", "", List.of());
    }

    /// A route for all methods. The document lists the usual ones; `%s` in the id becomes the name of the method.
    public static RouteDescription any(String template, Route.Access access) {
        return new RouteDescription(Route.ANY, template, access, "", "", List.of());
    }

    /// Sets the id of the operation and its summary.
    public RouteDescription named(String operation, String purpose) {
        return new RouteDescription(method, template, access, operation, purpose, parts);
    }

    public RouteDescription text(String text) {
        return with(new Text(text));
    }

    /// No credential is required, although the access class is not open.
    public RouteDescription withoutCredential() {
        return with(new Public());
    }

    public RouteDescription anyQuery() {
        return with(new AnyQuery());
    }

    public RouteDescription query(String name, JsonType<?> type, String text) {
        return with(new Parameter("query", name, false, text, type));
    }

    public RouteDescription requiredQuery(String name, String text) {
        return with(new Parameter("query", name, true, text, JsonType.STRING));
    }

    public RouteDescription header(String name, String text) {
        return header(name, JsonType.STRING, text);
    }

    public RouteDescription header(String name, JsonType<?> type, String text) {
        return with(new Parameter("header", name, false, text, type));
    }

    public RouteDescription takes(JsonType<?> type) {
        return with(new RequestBody(true, Map.of(JSON, type)));
    }

    public RouteDescription takesOptional(JsonType<?> type) {
        return with(new RequestBody(false, Map.of(JSON, type)));
    }

    public RouteDescription takes(boolean isRequired, String mediaType, JsonType<?> type) {
        return with(new RequestBody(isRequired, Map.of(mediaType, type)));
    }

    /// The body is one value or a list of values, or one value on each line.
    public RouteDescription takesLines(JsonType<?> type, JsonType<?> line) {
        var content = new LinkedHashMap<String, JsonType<?>>();
        content.put(JSON, type);
        content.put(NDJSON, line);
        return with(new RequestBody(true, content));
    }

    public RouteDescription answers(int status, String text) {
        return with(new Response(String.valueOf(status), text, Map.of(), Map.of()));
    }

    public RouteDescription answers(int status, String text, JsonType<?> type) {
        return answers(status, text, JSON, type);
    }

    public RouteDescription answers(int status, String text, String mediaType, JsonType<?> type) {
        return with(new Response(String.valueOf(status), text, Map.of(mediaType, type), Map.of()));
    }

    /// Adds the two forms of a stream to the last response.
    public RouteDescription orStreams(JsonType<?> event) {
        return also(EVENT_STREAM, event).also(NDJSON, event);
    }

    /// Adds another media type to the last response.
    public RouteDescription also(String mediaType, JsonType<?> type) {
        var last = (Response) parts.getLast();
        var content = new LinkedHashMap<>(last.content);
        content.put(mediaType, type);
        return replaceLast(new Response(last.status, last.text, content, last.headers));
    }

    /// Adds a header to the last response.
    public RouteDescription withHeader(String name, JsonType<?> type) {
        var last = (Response) parts.getLast();
        var headers = new LinkedHashMap<>(last.headers);
        headers.put(name, type);
        return replaceLast(new Response(last.status, last.text, last.content, headers));
    }

    /// Any other status has this response.
    public RouteDescription otherwise(String text) {
        return with(new Response("default", text, Map.of(), Map.of()));
    }

    /// Problems with the standard text of their status.
    public RouteDescription fails(int... statuses) {
        var all = this;
        for (int status : statuses) {
            all = all.fails(status, StandardProblems.text(status));
        }
        return all;
    }

    public RouteDescription fails(int status, String text) {
        return with(StandardProblems.problem(status, text));
    }

    /// Returns the route with its handler. The server rejects query parameters that the description does not have,
    /// because a misspelt parameter must not be ignored.
    public Route to(Route.Operation operation) {
        boolean isOpen = access instanceof Route.Access.Open || access instanceof Route.Access.Own;
        Route.Operation checked = isOpen || parts.contains(new AnyQuery()) ? operation : checkingQuery(operation);
        return new Route(this, validatesWith422() ? with422(checked) : checked);
    }

    private Route.Operation checkingQuery(Route.Operation operation) {
        String[] names = parameters().stream()
                .filter(parameter -> parameter.place.equals("query"))
                .map(Parameter::name)
                .toArray(String[]::new);
        return exchange -> {
            exchange.allowQuery(names);
            operation.handle(exchange);
        };
    }

    private static Route.Operation with422(Route.Operation operation) {
        return exchange -> {
            try {
                operation.handle(exchange);
            } catch (SandboxException e) {
                if (!(e.failure() instanceof Failure.InvalidRequest)) {
                    throw e;
                }
                exchange.refuse(422, e.failure());
            }
        };
    }

    private RouteDescription with(Part part) {
        var more = new ArrayList<>(parts);
        more.add(part);
        return new RouteDescription(method, template, access, id, summary, List.copyOf(more));
    }

    private RouteDescription replaceLast(Part part) {
        var others = parts.subList(0, parts.size() - 1);
        return new RouteDescription(method, template, access, id, summary, others).with(part);
    }

    /// Returns method and template, as the audit log names the route.
    public String route() {
        return method + " " + template;
    }

    /// Returns the text below the summary. It starts with the scope that the route requires.
    public String description() {
        var sentences = new ArrayList<String>();
        access.needed().ifPresent(scope -> sentences.add("Requires the scope `" + scope.text() + "`."));
        parts.forEach(part -> {
            if (part instanceof Text(var text)) {
                sentences.add(text);
            }
        });
        return String.join(" ", sentences);
    }

    /// Reports whether an invalid request has the status 422 instead of 400.
    boolean validatesWith422() {
        return parts.stream().anyMatch(part -> part instanceof Response response && response.status.equals("422"));
    }

    /// Reports whether the route accepts an `Idempotency-Key` of any caller. The routes of workers have their own.
    boolean isIdempotent() {
        return method.equals("POST")
                && !access.isAnonymous()
                && !(access instanceof Route.Access.Own || access instanceof Route.Access.Worker);
    }

    public boolean needsCredential() {
        return !access.isAnonymous() && parts.stream().noneMatch(Public.class::isInstance);
    }

    /// Returns all parameters, beginning with those of the path.
    public List<Parameter> parameters() {
        var all = new ArrayList<Parameter>();
        PATH_PARAMETER.matcher(template).results().forEach(found -> {
            String name = found.group(1);
            all.add(PATH_PARAMETERS.getOrDefault(name, path(name, "", JsonType.STRING)));
        });
        parts.forEach(part -> {
            if (part instanceof Parameter parameter) {
                all.add(parameter);
            }
        });
        if (isOfThread()) {
            all.add(query(OWNER, OWNER_TEXT));
        }
        if (takesUserIdAsOwner()) {
            all.add(query(USER_ID, "For admins: the same as `owner`."));
        }
        if (isIdempotent()) {
            all.add(new Parameter("header", Idempotency.HEADER, false, IDEMPOTENCY, JsonType.STRING));
        }
        return all;
    }

    boolean isOfThread() {
        return template.contains(THREAD_ID);
    }

    /// Reports whether `user_id` in the query is another name of [#OWNER]. On some routes it is a filter.
    boolean takesUserIdAsOwner() {
        return isOfThread()
                && parts.stream()
                        .noneMatch(part -> part instanceof Parameter parameter
                                && parameter.place.equals("query")
                                && parameter.name.equals(USER_ID));
    }

    public Optional<RequestBody> request() {
        return parts.stream()
                .filter(RequestBody.class::isInstance)
                .map(RequestBody.class::cast)
                .findFirst();
    }

    /// Returns all responses by status, including the standard ones.
    public Map<String, Response> responses() {
        var all = new TreeMap<String, Response>();
        parts.forEach(part -> {
            if (part instanceof Response response) {
                all.put(response.status, response);
            }
        });
        boolean takesJson =
                request().filter(body -> body.content.containsKey(JSON)).isPresent();
        StandardProblems.of(this, takesJson).forEach(problem -> all.putIfAbsent(problem.status, problem));
        return all;
    }

    private static Parameter query(String name, String text) {
        return new Parameter("query", name, false, text, JsonType.STRING);
    }

    private static Parameter path(String name, String text, JsonType<?> type) {
        return new Parameter("path", name, true, text, type);
    }
}
