package dev.vivarium.server.http;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Dispatcher of requests. It runs the same steps for each request: request id, route, admission, limits, handler. A
/// failure becomes a problem response. Each request has its own virtual thread. Thread-safe.
final class Dispatcher extends Handler.Abstract {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /// Headers that a refusal keeps.
    private static final Set<String> KEPT = Set.of(
            "allow",
            "retry-after",
            "ratelimit",
            "ratelimit-policy",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset");

    /// 16 bytes in base64. The last character before the padding encodes two bits.
    private static final Pattern WEBSOCKET_KEY = Pattern.compile("[A-Za-z0-9+/]{21}[AQgw]==");

    private static final String CONFINED = "default-src 'none'; frame-ancestors 'none'; sandbox";

    private final RouterSelector routers;
    private final Admission admission;
    private final AccessAudit audit;
    private final Idempotency idempotency;
    private final DrainGate gate;

    Dispatcher(
            RouterSelector routers, Admission admission, AccessAudit audit, Idempotency idempotency, DrainGate gate) {
        this.routers = routers;
        this.admission = admission;
        this.audit = audit;
        this.idempotency = idempotency;
        this.gate = gate;
    }

    @Override
    public boolean handle(Request received, Response response, Callback callback) {
        String requestId =
                HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        response.getHeaders().put("X-Request-Id", requestId);
        var cancellation = new Cancellation();
        var client = ClientEndPoint.of(received);
        Request request = client.map(one -> one.begin(received, cancellation, response::isCommitted))
                .orElse(received);
        InsideEndPoint.of(request).ifPresent(endPoint -> endPoint.onDisconnect(cancellation::cancel));
        try (var slots = admission.requests().slots()) {
            switch (serve(
                    request,
                    response,
                    new Exchange.RequestResources(requestId, cancellation, slots, audit.subject()),
                    callback)) {
                case COMPLETE -> callback.succeeded();
                case UNREAD -> callback.failed(new IOException("the request was refused before it had arrived"));
                case UPGRADED -> {}
            }
        } catch (IOException | RuntimeException e) {
            // The status is sent, or the client disconnected. Closing the connection ends the partial response.
            LOG.debug("request {} broke off", requestId, e);
            callback.failed(e);
        } catch (Error e) {
            // Jetty would catch it and continue.
            CriticalThread.report(e);
            throw e;
        } finally {
            client.ifPresent(one -> one.finish(request, cancellation));
        }
        return true;
    }

    private enum Outcome {
        /// The connection can carry another request.
        COMPLETE,
        /// The server refused the request before it read the body.
        UNREAD,
        /// The connection is a WebSocket.
        UPGRADED
    }

    private Outcome serve(Request request, Response response, Exchange.RequestResources held, Callback callback)
            throws IOException {
        String requestId = held.requestId();
        try {
            var exchange = answer(request, response, held);
            if (exchange.upgraded().isEmpty()) {
                return Outcome.COMPLETE;
            }
            upgrade(request, response, exchange.upgraded().get(), callback);
            return Outcome.UPGRADED;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NotAuthenticated) {
                admission.delayFailure(request, held.cancellation());
            }
            return refuse(request, response, requestId, e.failure(), e);
        } catch (RuntimeException e) {
            LOG.error(
                    "request {} failed: {} {}",
                    requestId,
                    request.getMethod(),
                    request.getHttpURI().getPath(),
                    e);
            return refuse(request, response, requestId, new Failure.Internal(requestId), e);
        }
    }

    private static void upgrade(
            Request request, Response response, Supplier<Session.Listener> endpoint, Callback callback) {
        requireValidKey(request);
        var container = ServerWebSocketContainer.get(request.getContext());
        boolean upgraded = container.upgrade(
                (_, answer, _) -> {
                    // Compression costs more time than it saves for the output of terminals.
                    answer.setExtensions(List.of());
                    return endpoint.get();
                },
                request,
                response,
                callback);
        if (!upgraded) {
            response.getHeaders().put(HttpHeader.UPGRADE, "websocket");
            throw new SandboxException(new RequestFailure.UpgradeRequired());
        }
    }

    /// Refuses a WebSocket upgrade without exactly one key of 16 bytes. Jetty would accept any text, and fail
    /// without one.
    private static void requireValidKey(Request request) {
        HttpFields headers = request.getHeaders();
        boolean isUpgrade = headers.contains(HttpHeader.UPGRADE, "websocket");
        List<String> keys = headers.getValuesList(HttpHeader.SEC_WEBSOCKET_KEY);
        if (isUpgrade
                && !(keys.size() == 1 && WEBSOCKET_KEY.matcher(keys.getFirst()).matches())) {
            throw new SandboxException(new RequestFailure.BadHttp(
                    400, "a WebSocket needs one Sec-WebSocket-Key header with 16 bytes in base64"));
        }
    }

    private Exchange answer(Request request, Response response, Exchange.RequestResources held) throws IOException {
        String path = request.getHttpURI().getPath();
        var match = find(request, path == null ? "" : path);
        if (match.isEmpty()) {
            // A client without a credential must not learn which paths exist.
            admission.identify(request);
            throw notFound(request, response);
        }
        boolean hasKey = Idempotency.appliesTo(request, match.get().route());
        return handle(request, response, hasKey ? held.withoutClient() : held, match.get());
    }

    private Exchange handle(Request request, Response response, Exchange.RequestResources held, Router.Match match)
            throws IOException {
        var route = match.route();
        long seen = admission.changes();
        var caller = Optional.<Caller>empty();
        var auditedResponse = new AuditedResponse(request, response);
        try {
            var known = admit(request, match);
            caller = Optional.of(known);
            known.principal().ifPresent(who -> enter(request, who, held.slots()));
            admission.count(known, route).ifPresent(standing -> standing.apply(response.getHeaders()));
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            response.getHeaders().put("X-Content-Type-Options", "nosniff");
            confine(request, response, route);
            auditedResponse.to(status -> audit.recordResponse(match, known, held.subject(), status));
            try (var memory = admission.memory(known)) {
                var sent = recordedIfIdempotent(request, auditedResponse, route);
                var exchange = new Exchange(request, sent, held, match, known, admission, memory);
                if (route.access().isAnonymous()) {
                    route.operation().handle(exchange);
                } else {
                    var access = admission.hold(known, match, request, () -> disconnect(request, held));
                    pass(match, exchange, access.map(right -> right.since(seen)));
                }
                auditedResponse.recordStatus(response.getStatus());
                return exchange;
            }
        } catch (SandboxException e) {
            auditFailure(request, match, caller, held.subject(), e.failure());
            throw e;
        } catch (IOException | RuntimeException e) {
            // A client that disconnects during the response has used the sandbox too.
            auditedResponse.recordStatus(
                    response.isCommitted() ? response.getStatus() : ProblemJson.status(new Failure.Internal("")));
            throw e;
        }
    }

    /// Counts the connection as authenticated, and the request towards the limit of the principal.
    private static void enter(Request request, Principal who, RequestLimits.Slots slots) {
        ClientEndPoint.of(request).ifPresent(ClientEndPoint::authenticated);
        slots.request(who);
    }

    /// Sandboxes the response in a browser: a file that an agent wrote must not run scripts with the user's
    /// session. Previews and the console set their own policy.
    private void confine(Request request, Response response, Route route) {
        boolean isOurs = !(route.access().isAnonymous() || route.access() instanceof Route.Access.Own);
        if (isOurs && admission.session(request).isPresent()) {
            response.getHeaders().put("Content-Security-Policy", CONFINED);
            response.getHeaders().put("Cross-Origin-Resource-Policy", "same-origin");
        }
    }

    /// Admits the caller. Through a control port, only the worker of that sandbox may call.
    private Caller admit(Request request, Router.Match match) {
        var caller = admission.admit(match, () -> admission.shown(request));
        InsideEndPoint.of(request).ifPresent(endPoint -> {
            boolean isOwnWorker = caller.principal()
                    .filter(who -> Admission.isFrom(who, endPoint.sandbox()))
                    .isPresent();
            if (!isOwnWorker && !(match.route().access() instanceof Route.Access.Own)) {
                throw new SandboxException(new Failure.NotAllowed(
                        "only the worker of sandbox " + endPoint.sandbox() + " may call from inside it"));
            }
        });
        return caller;
    }

    private void auditFailure(
            Request request,
            Router.Match match,
            Optional<Caller> caller,
            AccessAudit.Subject subject,
            Failure failure) {
        int status = ProblemJson.status(failure);
        if (caller.flatMap(Caller::sandbox).isPresent() || !AccessAudit.isRefusal(status)) {
            caller.ifPresent(known -> audit.recordResponse(match, known, subject, status));
        } else {
            // The failure does not name the principal of a valid credential without the right.
            var who = caller.flatMap(Caller::principal)
                    .or(() -> Exchange.shown(request).flatMap(admission::find))
                    .or(() -> admission.find(request))
                    .or(() -> admission.holder(request));
            var from = InsideEndPoint.of(request).map(InsideEndPoint::sandbox);
            audit.recordRefusal(match, who, from, subject, failure);
        }
    }

    private void pass(Router.Match match, Exchange exchange, Optional<Access> access) throws IOException {
        try {
            if (!gate.enter()) {
                throw new SandboxException(new Failure.ShuttingDown());
            }
            access.ifPresent(exchange::holds);
            try {
                run(match.route(), exchange);
            } finally {
                gate.leave();
            }
        } finally {
            access.ifPresent(Access::close);
        }
    }

    private void run(Route route, Exchange exchange) throws IOException {
        if (route.endsWithClient()) {
            exchange.cancellation().<Exchange, IOException>call(() -> {
                operate(route, exchange);
                return exchange;
            });
        } else {
            operate(route, exchange);
        }
    }

    private void operate(Route route, Exchange exchange) throws IOException {
        if (exchange.response() instanceof RecordedResponse response) {
            idempotency.run(exchange, response, route.operation());
        } else {
            route.operation().handle(exchange);
        }
    }

    private static Response recordedIfIdempotent(Request request, Response response, Route route) {
        return Idempotency.appliesTo(request, route) ? new RecordedResponse(request, response) : response;
    }

    /// Closes the connection of a caller who has lost the right, and cancels the request.
    private static void disconnect(Request request, Exchange.RequestResources held) {
        EndPoint endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
        // Without TLS: its farewell could wait for a client that does not read.
        ClientEndPoint.of(request).ifPresentOrElse(EndPoint::close, endPoint::close);
        held.cancellation().cancel();
    }

    private Optional<Router.Match> find(Request request, String path) {
        String host =
                Optional.ofNullable(request.getHeaders().get(HttpHeader.HOST)).orElse("");
        return path.startsWith("/") ? routers.find(request, host, path) : Optional.empty();
    }

    private SandboxException notFound(Request request, Response response) {
        String path = Optional.ofNullable(request.getHttpURI().getPath()).orElse("");
        List<String> methods = path.startsWith("/") ? routers.of(request).methods(path) : List.of();
        if (methods.isEmpty()) {
            return new SandboxException(
                    new RequestFailure.NoSuchRoute("there is no route with this path; /openapi.json lists all routes"));
        }
        response.getHeaders().put(HttpHeader.ALLOW, String.join(", ", methods));
        return new SandboxException(
                new RequestFailure.MethodNotAllowed("this path answers to " + String.join(", ", methods)));
    }

    private static Outcome refuse(
            Request request, Response response, String requestId, Failure failure, RuntimeException cause)
            throws IOException {
        if (response.isCommitted()) {
            throw cause;
        }
        var kept = response.getHeaders().stream()
                .filter(field -> KEPT.contains(field.getLowerCaseName()))
                .toList();
        if (failure.owner() == Failure.Owner.PLATFORM) {
            LOG.warn("request {} failed: {}", requestId, failure.sentence());
        }
        ProblemResponse.send(response, failure, fields -> {
            fields.put("X-Request-Id", requestId);
            kept.forEach(fields::put);
        });
        return ProblemResponse.discard(request) ? Outcome.COMPLETE : Outcome.UNREAD;
    }
}
