package dev.vivarium.server.http;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.websocket.api.Session;
import tools.jackson.core.JsonGenerator;

/// One request and its response. Before the status is sent, a failure becomes a problem; afterwards it can only be the
/// last event of a stream. Confined to one thread.
public final class Exchange {
    /// Maximum size of a JSON body.
    public static final int MAX_JSON_BYTES = 1024 * 1024;

    /// Bytes that a request may hold without a reservation.
    private static final int UNRESERVED_BYTES = 64 * 1024;

    private static final String JSON = "application/json";
    private static final String SHOWN = "dev.vivarium.shown";
    private static final String LINES = "application/x-ndjson";

    private final Request request;
    private final Response response;
    private final Route route;
    private final Map<String, String> pathParameters;
    private final Map<String, String> rawPathParameters;
    private final Map<String, String> queryParameters;
    private final Caller caller;
    private final Admission admission;
    private final ByteBudget.Reservation memory;
    private final Cancellation cancellation;
    private final RequestLimits.Slots slots;
    private final AccessAudit.Subject subject;
    private Optional<Supplier<Session.Listener>> upgrade = Optional.empty();
    private Optional<Access> access = Optional.empty();
    private Optional<MessageDigest> digest = Optional.empty();

    /// Resources of a request that is being served.
    record RequestResources(
            String requestId, Cancellation cancellation, RequestLimits.Slots slots, AccessAudit.Subject subject) {
        /// Returns resources of a request that continues if its client disconnects.
        RequestResources withoutClient() {
            return new RequestResources(requestId, new Cancellation(), slots, subject);
        }
    }

    Exchange(
            Request request,
            Response response,
            RequestResources held,
            Router.Match match,
            Caller caller,
            Admission admission,
            ByteBudget.Reservation memory) {
        this.request = request;
        this.response = response;
        this.cancellation = held.cancellation;
        this.slots = held.slots;
        this.subject = held.subject;
        this.route = match.route();
        this.pathParameters = match.parameters();
        this.rawPathParameters = match.raw();
        this.caller = caller;
        this.admission = admission;
        this.memory = memory;
        // The query of a preview belongs to the program, and may be any text.
        boolean isOurs = !(route.access() instanceof Route.Access.Own);
        this.queryParameters = isOurs ? rawQuery().map(Paths::query).orElse(Map.of()) : Map.of();
    }

    /// Upgrades the connection to a WebSocket with this endpoint, instead of a response.
    public void upgrade(Supplier<Session.Listener> endpoint) {
        upgrade = Optional.of(endpoint);
    }

    /// Returns the admission of a WebSocket client, on a route with [Route.Access.FirstMessage].
    public Handshake handshake() {
        return new Handshake(
                route,
                pathParameters.getOrDefault("sandbox_id", ""),
                ClientEndPoint.address(request),
                session(),
                onAuthenticated());
    }

    /// Returns the endpoint if the handler called [#upgrade].
    Optional<Supplier<Session.Listener>> upgraded() {
        return upgrade;
    }

    /// Returns the authenticated principal. Fails on a route without authentication.
    public Principal principal() {
        return caller.principal().orElseThrow(() -> new IllegalStateException("the route does not authenticate"));
    }

    /// Returns the key or token in the headers, on a route that requires none.
    public Optional<String> credential() {
        boolean isThere =
                header("Authorization").isPresent() || header("X-API-Key").isPresent();
        return isThere ? Optional.of(Credentials.key(request.getHeaders())) : Optional.empty();
    }

    /// Returns the browser session, if the request has one and no other credential.
    public Optional<Credential> session() {
        return admission.session(request);
    }

    /// Sets the key or token that the handler found outside the headers, so that the audit of a refusal names its
    /// principal.
    public void setCredential(String credential) {
        request.setAttribute(SHOWN, credential);
    }

    /// Returns the credential that a handler set with [#setCredential].
    static Optional<String> shown(Request request) {
        return request.getAttribute(SHOWN) instanceof String credential ? Optional.of(credential) : Optional.empty();
    }

    /// Sets the sandbox of the request for the audit, on a route without a sandbox in its path.
    public void concerns(SandboxInfo sandbox) {
        subject.addTarget(entry -> entry.on(sandbox.id(), sandbox.key()));
    }

    /// Sets the sandbox that the caller named, which may not exist, for the audit.
    public void concerns(String sandboxId) {
        if (SandboxId.isWellFormed(sandboxId)) {
            subject.addTarget(entry -> entry.onSandbox(new SandboxId(sandboxId)));
        }
    }

    /// Sets the thread of the request, for the audit.
    public void concerns(ThreadKey thread) {
        subject.addTarget(entry -> entry.onThread(thread));
    }

    /// The handler has written an audit entry of its own for this request.
    public void markAudited() {
        subject.markAudited();
    }

    /// Returns the owner of the thread that the query names.
    public Optional<String> threadOwner() {
        return optionalQuery(RouteDescription.OWNER)
                .or(() -> route.description().takesUserIdAsOwner() ? optionalQuery("user_id") : Optional.empty());
    }

    /// Returns the sandbox of a scoped route. The caller has the scope of the route for it.
    public Sandbox sandbox() {
        return caller.sandbox().orElseThrow(() -> new IllegalStateException("the route is not about one sandbox"));
    }

    /// Returns the sandbox of a route that also accepts ended sandboxes; empty if the sandbox has ended.
    public Optional<Sandbox> findSandbox() {
        return caller.sandbox();
    }

    /// Returns the caller's scopes for the sandbox of a scoped route.
    public Scopes scopes() {
        return caller.scopes();
    }

    /// Returns the sandbox whose control port the request came through. The caller cannot forge it.
    public Optional<SandboxId> from() {
        return InsideEndPoint.of(request).map(InsideEndPoint::sandbox);
    }

    Cancellation cancellation() {
        return cancellation;
    }

    /// Runs `action` once if the client disconnects before the response is complete.
    public void onDisconnect(Runnable action) {
        cancellation.onCancel(action);
    }

    /// From now on, a FIN of the client cancels the request, even after the response has started.
    public void endsAtHalfClose() {
        ClientEndPoint.of(request).ifPresent(ClientEndPoint::endAtHalfClose);
    }

    /// Returns the action for a handler to run when it has authenticated the client itself. It may run after the
    /// request has ended.
    public Runnable onAuthenticated() {
        return ClientEndPoint.of(request)
                .<Runnable>map(client -> client::authenticated)
                .orElse(() -> {});
    }

    /// Counts the request as a file call of this sandbox. Throws if there are too many.
    public void usesFilesOf(Sandbox sandbox) {
        slots.files(sandbox.id());
    }

    /// Returns the caller's access, for a stream or a long poll. From now on the handler checks the access and ends
    /// the response with the reason. Without this call, the server closes the connection when the right is lost.
    /// The request counts as a stream.
    public Access access() {
        caller.principal().ifPresent(slots::becomeStream);
        Access right = requireAccess().polled();
        cancellation.onCancel(() -> right.end(Cancellation.FAILURE));
        return right;
    }

    private Access requireAccess() {
        return access.orElseThrow(() -> new IllegalStateException("the route admits callers itself"));
    }

    void holds(Access held) {
        access = Optional.of(held);
    }

    /// Keeps the connection open for the response of a request that revokes its own right.
    public void keepOpenAfterRevocation() {
        var _ = requireAccess().polled();
    }

    /// Reserves memory until the end of the request. Call it before a large allocation; a few kilobytes need no
    /// reservation. Throws `TooMuchInFlight` if there is not enough.
    public void reserve(long bytes) {
        if (bytes > UNRESERVED_BYTES) {
            memory.add(bytes);
        }
    }

    /// Reserves memory if there is enough, and reports whether it did.
    public boolean tryReserve(long bytes) {
        return memory.tryAddSpare(bytes);
    }

    /// Returns a path parameter, decoded.
    public String path(String name) {
        return Optional.ofNullable(pathParameters.get(name)).orElseThrow();
    }

    /// Returns a path parameter, still encoded.
    public String rawPath(String name) {
        return Optional.ofNullable(rawPathParameters.get(name)).orElseThrow();
    }

    /// Returns the query, still encoded.
    public Optional<String> rawQuery() {
        return Optional.ofNullable(request.getHttpURI().getQuery());
    }

    public String query(String name) {
        return optionalQuery(name).orElseThrow(() -> SandboxException.invalid(name, "is required in the query"));
    }

    public Optional<String> optionalQuery(String name) {
        return Optional.ofNullable(queryParameters.get(name));
    }

    /// Returns a query parameter whose JSON form is a string.
    public <T> Optional<T> optionalQuery(String name, JsonType<T> type) {
        return optionalQuery(name).map(text -> type.read(name, text));
    }

    /// Refuses all other query parameters, so that the server does not ignore a misspelt one.
    public void allowQuery(String... names) {
        var known = List.of(names);
        for (String name : queryParameters.keySet()) {
            require(known.contains(name), name, "is not a query parameter of this route");
        }
    }

    /// Returns a list header. It joins several lines.
    public Optional<String> headerList(String name) {
        var lines = request.getHeaders().getValuesList(name);
        return lines.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", lines));
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(request.getHeaders().get(name));
    }

    public boolean isHead() {
        return request.getMethod().equals("HEAD");
    }

    /// Reports whether `Accept` names this media type.
    public boolean accepts(String mediaType) {
        for (String wanted : request.getHeaders().getQualityCSV(HttpHeader.ACCEPT)) {
            if (wanted.split(";")[0].strip().equalsIgnoreCase(mediaType)) {
                return true;
            }
        }
        return false;
    }

    public OptionalLong contentLength() {
        long length = request.getLength();
        return length < 0 ? OptionalLong.empty() : OptionalLong.of(length);
    }

    /// Returns the body as a stream.
    public InputStream body() {
        var body = new BudgetedInput(Content.Source.asInputStream(request));
        return digest.<InputStream>map(all -> new DigestInputStream(body, all)).orElse(body);
    }

    /// Adds every byte of the body that the handler reads to a digest.
    void digestBody(MessageDigest all) {
        digest = Optional.of(all);
    }

    /// Returns the first `max` bytes of the body, or all of it. Fails after `timeout`. The handler then throws an
    /// [IOException] after the response, which closes the connection.
    public byte[] body(Duration timeout, int max) throws IOException {
        return TimedBody.await(request, timeout, max);
    }

    /// Reads the body as one JSON object.
    public JsonFields json() throws IOException {
        requireType(JSON);
        return Json.request(jsonBytes());
    }

    /// Reads the body as a JSON object, an array of objects, or one object per line.
    public JsonObjects jsonObjects() throws IOException {
        requireType(JSON, LINES);
        byte[] bytes = jsonBytes();
        boolean isLines = mediaType().equalsIgnoreCase(LINES);
        // ISO 8859-1 maps each byte to one character. The code below only searches for line ends and brackets.
        String text = new String(bytes, StandardCharsets.ISO_8859_1).strip();
        if (isLines) {
            String array = text.lines().filter(line -> !line.isBlank()).collect(Collectors.joining(",", "[", "]"));
            return new JsonObjects(Json.requests(array.getBytes(StandardCharsets.ISO_8859_1)), true);
        }
        return text.startsWith("[")
                ? new JsonObjects(Json.requests(bytes), true)
                : new JsonObjects(List.of(Json.request(bytes)), false);
    }

    /// JSON objects of a body. Immutable.
    ///
    /// @param isList whether the client sent a list and expects one
    public record JsonObjects(List<JsonFields> all, boolean isList) {}

    private String mediaType() {
        return header("Content-Type").orElse(JSON).split(";")[0].strip();
    }

    private void requireType(String... types) {
        if (Arrays.stream(types).noneMatch(mediaType()::equalsIgnoreCase)) {
            throw unsupportedMediaType("the body must be " + String.join(" or ", types));
        }
    }

    private byte[] jsonBytes() throws IOException {
        if (contentLength().orElse(0) > MAX_JSON_BYTES) {
            throw new SandboxException(new Failure.BodyTooLarge(MAX_JSON_BYTES));
        }
        byte[] bytes = readJson();
        if (bytes.length > MAX_JSON_BYTES) {
            throw new SandboxException(new Failure.BodyTooLarge(MAX_JSON_BYTES));
        }
        admission
                .countBytes(caller, route, bytes.length)
                .filter(standing -> !standing.isAllowed())
                .ifPresent(standing -> standing.apply(response.getHeaders()));
        return bytes;
    }

    /// Reserves four times the size of a large body, because parsing holds it as bytes, as text and as fields.
    private byte[] readJson() throws IOException {
        var body = body();
        byte[] first = body.readNBytes(UNRESERVED_BYTES);
        if (first.length < UNRESERVED_BYTES) {
            return first;
        }
        reserve(4 * contentLength().orElse(MAX_JSON_BYTES));
        byte[] rest = body.readNBytes(MAX_JSON_BYTES + 1 - first.length);
        byte[] all = Arrays.copyOf(first, first.length + rest.length);
        System.arraycopy(rest, 0, all, first.length, rest.length);
        return all;
    }

    /// Reads the body as one JSON object. An empty body counts as `{}`.
    public JsonFields optionalJson() throws IOException {
        // A body of HTTP/2 needs no header that announces it, so only reading shows whether there is one.
        byte[] bytes = jsonBytes();
        if (bytes.length == 0) {
            return Json.request("{}".getBytes(StandardCharsets.UTF_8));
        }
        requireType(JSON);
        return Json.request(bytes);
    }

    /// Reads the body as one JSON object of this type.
    public <T> T json(ObjectType<T> type) throws IOException {
        return type.read(json());
    }

    /// The same; a missing body counts as `{}`.
    public <T> T optionalJson(ObjectType<T> type) throws IOException {
        return type.read(optionalJson());
    }

    public static SandboxException unsupportedMediaType(String rule) {
        return new SandboxException(new RequestFailure.UnsupportedMediaType(rule));
    }

    public Exchange answerHeader(String name, String value) {
        response.getHeaders().put(name, value);
        return this;
    }

    public Request request() {
        return request;
    }

    public Response response() {
        return response;
    }

    /// Sends a status without a body.
    public void answer(int status) throws IOException {
        response.setStatus(status);
        try (var sent = Blocker.callback()) {
            response.write(true, ByteBuffer.allocate(0), sent);
            sent.block();
        }
    }

    /// Sends a problem with the headers that the handler has set. A thrown failure would lose them.
    public void refuse(Failure failure) throws IOException {
        refuse(ProblemJson.status(failure), failure);
    }

    /// Sends a problem with another status than the usual one of the failure.
    public void refuse(int status, Failure failure) throws IOException {
        write(status, ProblemJson.CONTENT_TYPE, out -> ProblemJson.write(out, failure, status));
    }

    /// Sends one JSON object.
    public void answer(int status, Consumer<JsonGenerator> fields) throws IOException {
        write(status, JSON, fields);
    }

    public <T> void answer(int status, ObjectType<T> type, T value) throws IOException {
        answer(status, out -> type.writeFields(out, value));
    }

    public void answer(int status, String contentType, byte[] bytes) throws IOException {
        var out = new Body(begin(status, contentType));
        out.write(bytes);
        out.close();
    }

    /// Starts a response whose bytes the handler writes. Each flush sends them. Without a length, the response is
    /// chunked.
    public OutputStream stream(int status, String contentType, OptionalLong length) {
        begin(status, contentType);
        length.ifPresent(bytes -> response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes));
        return new BudgetedOutput(Content.Sink.asOutputStream(response));
    }

    private void write(int status, String contentType, Consumer<JsonGenerator> fields) throws IOException {
        // Not closed if writing fails, so that a truncated body does not look complete.
        var out = new Body(begin(status, contentType));
        Json.write(out, fields);
        out.close();
    }

    private Response begin(int status, String contentType) {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
        return response;
    }
}
