package dev.vivarium.server.http;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.VitalThread;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes each request through the same steps: a number, the gate, who calls, which route, the handler; and turns what
/// fails on the way into a problem. Each request has a virtual thread of its own. Thread-safe.
final class Dispatcher extends Handler.Abstract {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /// What is said beside a refusal by whoever refuses.
    private static final Set<String> KEPT = Set.of(
            "allow",
            "retry-after",
            "ratelimit",
            "ratelimit-policy",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset");

    private static final String CONFINED = "default-src 'none'; frame-ancestors 'none'; sandbox";

    private final RouterSelector routers;
    private final Admission admission;
    private final AccessAudit witness;
    private final DrainGate gate;

    Dispatcher(RouterSelector routers, Admission admission, AccessAudit witness, DrainGate gate) {
        this.routers = routers;
        this.admission = admission;
        this.witness = witness;
        this.gate = gate;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String requestId =
                HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        response.getHeaders().put("X-Request-Id", requestId);
        var cancellation = new Cancellation();
        var client = ClientEndPoint.of(request);
        client.ifPresent(one -> one.begin(cancellation, response::isCommitted));
        InsideEndPoint.of(request).ifPresent(visited -> visited.whenGone(cancellation::cancel));
        try (var places = admission.requests().places()) {
            switch (serve(request, response, new Exchange.Held(requestId, cancellation, places), callback)) {
                case COMPLETE -> callback.succeeded();
                case UNREAD -> callback.failed(new IOException("the request was refused before it had arrived"));
                case UPGRADED -> {}
            }
        } catch (IOException | RuntimeException e) {
            // The status is spent or the client is gone: the connection ends, and with it the half answer.
            LOG.debug("request {} broke off", requestId, e);
            callback.failed(e);
        } catch (Error e) {
            // Jetty would catch it and go on.
            VitalThread.report(e);
            throw e;
        } finally {
            client.ifPresent(one -> one.finish(cancellation));
        }
        return true;
    }

    /// What became of a request.
    private enum Outcome {
        /// The connection can carry another.
        COMPLETE,
        /// It was refused before it had arrived.
        UNREAD,
        /// The connection is a WebSocket now.
        UPGRADED
    }

    private Outcome serve(Request request, Response response, Exchange.Held held, Callback callback)
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
        var container = ServerWebSocketContainer.get(request.getContext());
        boolean upgraded = container.upgrade(
                (_, answer, _) -> {
                    // Compression would cost more time than the bytes of a terminal are worth.
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

    private Exchange answer(Request request, Response response, Exchange.Held held) throws IOException {
        String path = request.getHttpURI().getPath();
        var match = find(request, path == null ? "" : path);
        if (match.isEmpty()) {
            // Nobody without a key or token learns which paths there are.
            admission.identify(request);
            throw nothingThere(request, response);
        }
        return handle(request, response, held, match.get());
    }

    private Exchange handle(Request request, Response response, Exchange.Held held, Router.Match match)
            throws IOException {
        var route = match.route();
        var at = witness.now();
        long seen = admission.changes();
        var caller = Optional.<Caller>empty();
        var auditedResponse = new AuditedResponse(request, response);
        try {
            var known = admit(request, match);
            caller = Optional.of(known);
            known.principal().ifPresent(who -> enter(request, who, held.places()));
            admission.count(known, route).ifPresent(standing -> pace(standing, response));
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            response.getHeaders().put("X-Content-Type-Options", "nosniff");
            confine(request, response, route);
            auditedResponse.to(status -> witness.saw(match, known, at, status));
            try (var memory = admission.memory(known)) {
                var checks = checks(request, response, match, known, memory);
                var exchange = new Exchange(request, auditedResponse, held, match, known, checks);
                if (route.access().isAnonymous()) {
                    route.operation().handle(exchange);
                } else {
                    var access = admission.hold(known, match, request, () -> cut(request));
                    pass(match, exchange, access.map(right -> right.since(seen)));
                }
                auditedResponse.give(response.getStatus());
                return exchange;
            }
        } catch (SandboxException e) {
            tellOfFailure(request, match, caller, at, e.failure());
            throw e;
        } catch (IOException | RuntimeException e) {
            // The client may be gone in the middle of an answer; it has used the sandbox all the same.
            auditedResponse.give(
                    response.isCommitted() ? response.getStatus() : ProblemJson.status(new Failure.Internal("")));
            throw e;
        }
    }

    /// The client has shown a good credential: it counts as one, and so does its request.
    private static void enter(Request request, Principal who, RequestLimits.Places places) {
        ClientEndPoint.of(request).ifPresent(ClientEndPoint::authenticated);
        places.request(who);
    }

    /// What a browser is sent for its session may be a file that an agent wrote. Shown as a page, it must be
    /// nobody. What has rules of its own, as previews and our pages have, is left alone.
    private void confine(Request request, Response response, Route route) {
        boolean isOurs = !(route.access().isAnonymous() || route.access() instanceof Route.Access.Own);
        if (isOurs && admission.session(request).isPresent()) {
            response.getHeaders().put("Content-Security-Policy", CONFINED);
            response.getHeaders().put("Cross-Origin-Resource-Policy", "same-origin");
        }
    }

    private Exchange.Checks checks(
            Request request, Response response, Router.Match match, Caller caller, ByteBudget.Reservation memory) {
        return new Exchange.Checks() {
            @Override
            public ByteBudget.Reservation memory() {
                return memory;
            }

            @Override
            public Optional<Credential> session() {
                return admission.session(request);
            }

            @Override
            public void arrived(int bytes) {
                admission
                        .weigh(caller, match.route(), bytes)
                        .filter(standing -> !standing.isAllowed())
                        .ifPresent(standing -> pace(standing, response));
            }
        };
    }

    private static void pace(RateLimits.Standing standing, Response response) {
        standing.tell(response.getHeaders());
        if (!standing.isAllowed()) {
            throw new SandboxException(new RequestFailure.RateLimited(standing.sentence()));
        }
    }

    /// At a door, what a token says must agree with the wire that brought it.
    private Caller admit(Request request, Router.Match match) {
        var caller = admission.admit(match, () -> admission.shown(request));
        InsideEndPoint.of(request).ifPresent(visited -> {
            boolean isTheirs = caller.principal()
                    .filter(who -> Admission.isFrom(who, visited.sandbox()))
                    .isPresent();
            if (!isTheirs && !(match.route().access() instanceof Route.Access.Own)) {
                throw new SandboxException(new Failure.NotAllowed(
                        "only the worker of sandbox " + visited.sandbox() + " may call from inside it"));
            }
        });
        return caller;
    }

    private void tellOfFailure(
            Request request, Router.Match match, Optional<Caller> caller, Instant at, Failure failure) {
        int status = ProblemJson.status(failure);
        if (caller.flatMap(Caller::sandbox).isPresent() || !AccessAudit.isRefusal(status)) {
            caller.ifPresent(known -> witness.saw(match, known, at, status));
        } else {
            // Whose credential is good but not for this was not told by the failure.
            var who = caller.flatMap(Caller::principal)
                    .or(() -> Exchange.shown(request).flatMap(admission::find))
                    .or(() -> admission.find(request));
            var from = InsideEndPoint.of(request).map(InsideEndPoint::sandbox);
            witness.refused(match, who, from, failure);
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

    private static void run(Route route, Exchange exchange) throws IOException {
        if (route.endsWithClient()) {
            exchange.cancellation().<Exchange, IOException>call(() -> {
                route.operation().handle(exchange);
                return exchange;
            });
        } else {
            route.operation().handle(exchange);
        }
    }

    /// Ends an answer whose caller has lost the right to it. What it started ends as if the caller had hung up.
    private static void cut(Request request) {
        request.getConnectionMetaData().getConnection().getEndPoint().close();
    }

    private Optional<Router.Match> find(Request request, String path) {
        String host =
                Optional.ofNullable(request.getHeaders().get(HttpHeader.HOST)).orElse("");
        return path.startsWith("/") ? routers.find(request, host, path) : Optional.empty();
    }

    private SandboxException nothingThere(Request request, Response response) {
        String path = Optional.ofNullable(request.getHttpURI().getPath()).orElse("");
        List<String> methods = path.startsWith("/") ? routers.of(request).methods(path) : List.of();
        if (methods.isEmpty()) {
            return new SandboxException(
                    new RequestFailure.NoSuchRoute("there is nothing at this path; /openapi.json lists what there is"));
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
