package dev.vivarium.server.http;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

/// One request and its answer, seen by one handler. The status can be sent once: until then a failure becomes a
/// problem, afterwards it can only be the last event of a stream. Confined to the worker that serves the request.
public final class Exchange {
    /// The largest JSON body that a request may have.
    public static final int MAX_JSON_BYTES = 1024 * 1024;

    /// Bytes that a request may hold without a reservation.
    private static final int UNRESERVED_BYTES = 64 * 1024;

    private static final String JSON = "application/json";
    private static final String SHOWN = "dev.vivarium.shown";
    private static final String LINES = "application/x-ndjson";

    private final Request request;
    private final Response response;
    private final String requestId;
    private final Route.Access required;
    private final Map<String, String> pathParameters;
    private final Map<String, String> rawPathParameters;
    private final Map<String, String> queryParameters;
    private final Caller caller;
    private final Checks checks;
    private final Cancellation cancellation;
    private final RequestLimits.Places places;
    private Optional<Supplier<Session.Listener>> upgrade = Optional.empty();
    private Optional<Access> access = Optional.empty();

    /// What is asked again while a request is served. Each throws what the caller is to be told.
    interface Checks {
        /// The session of the browser that calls.
        Optional<Credential> session();

        /// A body has arrived, of which the caller may send only so much.
        void arrived(int bytes);

        /// The memory that the request holds.
        ByteBudget.Reservation memory();
    }

    /// Resources of a request that is being served.
    record Held(String requestId, Cancellation cancellation, RequestLimits.Places places) {}

    Exchange(Request request, Response response, Held held, Router.Match match, Caller caller, Checks checks) {
        this.request = request;
        this.response = response;
        this.requestId = held.requestId;
        this.cancellation = held.cancellation;
        this.places = held.places;
        this.required = match.route().access();
        this.pathParameters = match.parameters();
        this.rawPathParameters = match.raw();
        this.caller = caller;
        this.checks = checks;
        // A query that belongs to somebody else may be any text.
        boolean isOurs = !(required instanceof Route.Access.Own);
        this.queryParameters = isOurs ? rawQuery().map(Paths::query).orElse(Map.of()) : Map.of();
    }

    /// Lets the connection become a WebSocket that `endpoint` serves, instead of an answer.
    public void upgrade(Supplier<Session.Listener> endpoint) {
        upgrade = Optional.of(endpoint);
    }

    /// Returns the admission of a WebSocket client, on a route with [Route.Access.FirstMessage].
    public Handshake handshake() {
        var access = (Route.Access.FirstMessage) required;
        return new Handshake(access, pathParameters.getOrDefault("sandbox_id", ""), session(), onAuthenticated());
    }

    /// What serves the connection from here on, if the handler wants that.
    Optional<Supplier<Session.Listener>> upgraded() {
        return upgrade;
    }

    /// Under which the log speaks of this request.
    public String requestId() {
        return requestId;
    }

    /// Who calls. Every route but an open one has somebody.
    public Principal principal() {
        return caller.principal().orElseThrow(() -> new IllegalStateException("an open route asked who calls"));
    }

    /// The key or token of the headers, on a route that asks for none.
    public Optional<String> credential() {
        boolean isThere =
                header("Authorization").isPresent() || header("X-API-Key").isPresent();
        return isThere ? Optional.of(Credentials.key(request.getHeaders())) : Optional.empty();
    }

    /// The session of the browser that calls, if it is one and shows nothing else; on a route that asks for none.
    public Optional<Credential> session() {
        return checks.session();
    }

    /// Says what key or token the caller showed elsewhere than in the headers, so that a refusal can name who it
    /// is.
    public void shows(String credential) {
        request.setAttribute(SHOWN, credential);
    }

    /// What was found by whoever handled a request, if anything was.
    static Optional<String> shown(Request request) {
        return request.getAttribute(SHOWN) instanceof String credential ? Optional.of(credential) : Optional.empty();
    }

    /// The sandbox that a scoped route is about, which this caller may use as the route's scope says.
    public Sandbox sandbox() {
        return caller.sandbox().orElseThrow(() -> new IllegalStateException("the route is not about one sandbox"));
    }

    /// The sandbox that a route is about which also tells of those that have ended; nothing if this one has.
    public Optional<Sandbox> findSandbox() {
        return caller.sandbox();
    }

    /// All that this caller may do to the sandbox of a scoped route.
    public Scopes scopes() {
        return caller.scopes();
    }

    /// The sandbox that the request came out of, if it came through a door. It is so whatever the caller says.
    public Optional<SandboxId> from() {
        return InsideEndPoint.of(request).map(InsideEndPoint::sandbox);
    }

    Cancellation cancellation() {
        return cancellation;
    }

    /// Runs `action` once when the client hangs up before the answer is complete.
    public void whenGone(Runnable action) {
        cancellation.onCancel(action);
    }

    /// A client that closes its sending side counts as gone from now on, also after the answer has begun.
    public void endsAtHalfClose() {
        ClientEndPoint.of(request).ifPresent(ClientEndPoint::endAtHalfClose);
    }

    /// What to run once the client has shown a good credential, on a route that asks for none. It may run after the
    /// request has ended.
    public Runnable onAuthenticated() {
        return ClientEndPoint.of(request)
                .<Runnable>map(client -> client::authenticated)
                .orElse(() -> {});
    }

    /// Counts the request among those that use the files of this sandbox. Throws when there are too many.
    public void usesFilesOf(Sandbox sandbox) {
        places.files(sandbox.id());
    }

    /// The right by which the caller is served, for an answer that may last for days, or a wait. From now on the
    /// handler checks it and ends the answer with the reason. Otherwise the connection is closed when the right is
    /// lost. The request counts as a stream.
    public Access access() {
        caller.principal().ifPresent(places::becomeStream);
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

    /// For a request that ends its own right: the connection stays open for the answer.
    public void endsItsRight() {
        var _ = requireAccess().polled();
    }

    /// Reserves memory until the request has ended. To be called before many bytes are held; a few kilobytes need
    /// no reservation. Throws `TooMuchInFlight` if they do not fit.
    public void reserve(long bytes) {
        if (bytes > UNRESERVED_BYTES) {
            checks.memory().add(bytes);
        }
    }

    /// The same for a handler that can do without. Reports whether the bytes fit.
    public boolean tryReserve(long bytes) {
        return checks.memory().tryAddSpare(bytes);
    }

    /// A parameter of the path, decoded once.
    public String path(String name) {
        return Optional.ofNullable(pathParameters.get(name)).orElseThrow();
    }

    /// A parameter of the path as it came, still encoded.
    public String rawPath(String name) {
        return Optional.ofNullable(rawPathParameters.get(name)).orElseThrow();
    }

    /// The query as it came, still encoded.
    public Optional<String> rawQuery() {
        return Optional.ofNullable(request.getHttpURI().getQuery());
    }

    public String query(String name) {
        return optionalQuery(name)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(name, "is required in the query")));
    }

    public Optional<String> optionalQuery(String name) {
        return Optional.ofNullable(queryParameters.get(name));
    }

    /// Refuses query parameters beyond these: a misspelt one must not be ignored in silence.
    public void allowQuery(String... names) {
        var known = List.of(names);
        for (String name : queryParameters.keySet()) {
            if (!known.contains(name)) {
                throw new SandboxException(new Failure.InvalidRequest(name, "is not a query parameter of this route"));
            }
        }
    }

    /// A header that is a list, which may have come in several lines.
    public Optional<String> headerList(String name) {
        var lines = request.getHeaders().getValuesList(name);
        return lines.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", lines));
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(request.getHeaders().get(name));
    }

    /// Reports whether the caller wants the headers of the answer alone.
    public boolean isHead() {
        return request.getMethod().equals("HEAD");
    }

    /// Reports whether the caller asked for this media type by name.
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

    /// The body as it arrives.
    public InputStream body() {
        return new BudgetedInput(Content.Source.asInputStream(request));
    }

    /// The first `most` bytes of the body, or all of it. Fails when that took longer than `patience`; the answer
    /// must then be the last of its connection, which an [IOException] after it sees to.
    public byte[] body(Duration patience, int most) throws IOException {
        return TimedBody.await(request, patience, most);
    }

    /// Reads the body as one JSON object.
    public JsonFields json() throws IOException {
        return Json.request(jsonBytes(JSON));
    }

    /// The same where there may be several: an array, or one object a line.
    public JsonObjects jsonObjects() throws IOException {
        byte[] bytes = jsonBytes(JSON, LINES);
        boolean isLines = mediaType().equalsIgnoreCase(LINES);
        // One byte is one character, whatever they mean: only lines and brackets are looked for.
        String text = new String(bytes, StandardCharsets.ISO_8859_1).strip();
        if (isLines) {
            String array = text.lines().filter(line -> !line.isBlank()).collect(Collectors.joining(",", "[", "]"));
            return new JsonObjects(Json.requests(array.getBytes(StandardCharsets.ISO_8859_1)), true);
        }
        return text.startsWith("[")
                ? new JsonObjects(Json.requests(bytes), true)
                : new JsonObjects(List.of(Json.request(bytes)), false);
    }

    /// What a body holds. Immutable.
    ///
    /// @param isList the caller sent a list, and wants one back
    public record JsonObjects(List<JsonFields> all, boolean isList) {}

    private String mediaType() {
        return header("Content-Type").orElse(JSON).split(";")[0].strip();
    }

    private byte[] jsonBytes(String... types) throws IOException {
        if (Arrays.stream(types).noneMatch(mediaType()::equalsIgnoreCase)) {
            throw unsupportedMediaType("the body must be " + String.join(" or ", types));
        }
        if (contentLength().orElse(0) > MAX_JSON_BYTES) {
            throw new SandboxException(new Failure.BodyTooLarge(MAX_JSON_BYTES));
        }
        byte[] bytes = readJson();
        if (bytes.length > MAX_JSON_BYTES) {
            throw new SandboxException(new Failure.BodyTooLarge(MAX_JSON_BYTES));
        }
        checks.arrived(bytes.length);
        return bytes;
    }

    /// A large body is there several times while it is parsed: as bytes, as text and as fields.
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

    /// The same for a request that may have no body, which then is as if it were `{}`.
    public JsonFields optionalJson() throws IOException {
        boolean hasBody =
                contentLength().orElse(0) > 0 || header("Transfer-Encoding").isPresent();
        return hasBody ? json() : Json.request("{}".getBytes(StandardCharsets.UTF_8));
    }

    public static SandboxException unsupportedMediaType(String rule) {
        return new SandboxException(new RequestFailure.UnsupportedMediaType(rule));
    }

    public Exchange answerHeader(String name, String value) {
        response.getHeaders().put(name, value);
        return this;
    }

    /// The request itself, for what passes it on whole.
    public Request request() {
        return request;
    }

    /// The answer itself, for what passes one on whole.
    public Response response() {
        return response;
    }

    /// Answers with a status and headers alone.
    public void answer(int status) throws IOException {
        response.setStatus(status);
        try (var sent = Blocker.callback()) {
            response.write(true, ByteBuffer.allocate(0), sent);
            sent.block();
        }
    }

    /// Answers with a problem and the headers that were set for it, where a failure that is thrown would lose them.
    public void refuse(Failure failure) throws IOException {
        refuse(ProblemJson.status(failure), failure);
    }

    /// The same where the route has another status for it.
    public void refuse(int status, Failure failure) throws IOException {
        write(status, ProblemJson.CONTENT_TYPE, out -> ProblemJson.write(out, failure, status));
    }

    /// Answers with one JSON object.
    public void answer(int status, Consumer<JsonGenerator> fields) throws IOException {
        write(status, JSON, fields);
    }

    /// Answers with bytes that are there already.
    public void answer(int status, String contentType, byte[] bytes) throws IOException {
        var out = new Body(begin(status, contentType));
        out.write(bytes);
        out.close();
    }

    /// Answers with bytes that come one after the other; each flush sends what is there. Without a length the
    /// answer is chunked.
    public OutputStream stream(int status, String contentType, OptionalLong length) {
        begin(status, contentType);
        length.ifPresent(bytes -> response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes));
        return new BudgetedOutput(Content.Sink.asOutputStream(response));
    }

    private void write(int status, String contentType, Consumer<JsonGenerator> fields) throws IOException {
        // Not closed when writing fails: a body cut short must not look like a whole one.
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
