package dev.vivarium.server.socket;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.KEPT_SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.SANDBOX;
import static dev.vivarium.server.http.Route.Access.FirstMessage.Target.VISIBLE_SANDBOXES;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.SandboxResolver;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.telemetry.Telemetry;
import java.util.Optional;

/// Handler of the WebSocket routes. Thread-safe.
public final class SocketsHandler {
    public static final RouteDescription SHELL = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/shell", Route.Access.firstMessage(SANDBOX, Scope.SHELL_RO))
            .named("connectShell", "Open a shell over WebSocket")
            .text("""
                    Authenticate in the first message: `{"type":"auth","token":…}`. docs/reference/shell.md \
                    describes the messages.""")
            .answers(101, "The connection is a WebSocket.")
            .fails(426);

    public static final RouteDescription FEED = RouteDescription.get(
                    "/api/v1/ws/events", Route.Access.firstMessage(VISIBLE_SANDBOXES, Scope.SHELL_RO))
            .named("listenToEventsBySocket", "Follow the events of all sandboxes over WebSocket")
            .text("""
                    Authenticate in the first message, `{"type":"auth","token":…}`, in a header, or with `token` \
                    in the query. An admin receives the events of all sandboxes, a user the events of their own \
                    sandboxes, a capability token the events of its sandbox. The client may change the filter at \
                    any time. docs/reference/events.md describes the messages.""")
            .query(
                    "token",
                    STRING,
                    "A key or a token, for clients that cannot send it in a header or a message. Not an admin key.")
            .query("event_types", STRING, "Event types, separated by commas. A type that ends with a dot is a prefix.")
            .query("entity_types", STRING, "Entity types, separated by commas: `sandbox`, `thread`, `task`, `run`.")
            .query("entity_ids", STRING, "Ids, separated by commas.")
            .answers(101, "The connection is a WebSocket.")
            .fails(401, "An admin key in the query.")
            .fails(400, 426);

    public static final RouteDescription EVENTS = RouteDescription.get(
                    "/ws/sandboxes/{sandbox_id}", Route.Access.firstMessage(KEPT_SANDBOX, Scope.SHELL_RO))
            .named("watchSandbox", "Follow the events of a sandbox over WebSocket")
            .text("""
                    Authenticate in the first message, `{"type":"auth","token":…,"after_seq":…}`, in a header, \
                    or with `token` in the query. The server sends the stored events after `after_seq`, then new \
                    events. docs/reference/events.md describes the messages.""")
            .query(
                    "token",
                    STRING,
                    "A key or a token, for clients that cannot send it in a header or a message. Not an admin key.")
            .query("after_seq", INT.with("minimum", 0).with("default", 0), "The last event that the caller has.")
            .query("event_types", STRING, "Event types, separated by commas. A type that ends with a dot is a prefix.")
            .answers(101, "The connection is a WebSocket.")
            .fails(401, "An admin key in the query.")
            .fails(400, 426);

    private final Sockets sockets;
    private final SandboxResolver resolver;
    private final Telemetry telemetry;
    private final EventLog log;
    private final Operations operations;
    private final Feed feed;

    public SocketsHandler(
            Sockets sockets,
            SandboxResolver resolver,
            Telemetry telemetry,
            EventLog log,
            Operations operations,
            Feed feed) {
        this.sockets = sockets;
        this.resolver = resolver;
        this.telemetry = telemetry;
        this.log = log;
        this.operations = operations;
        this.feed = feed;
    }

    /// `GET /sandboxes/{sandbox_id}/shell`.
    public void shell(Exchange exchange) {
        upgrade(exchange, Optional.empty(), ShellSocket.opener(telemetry, resolver));
    }

    /// `GET /ws/sandboxes/{sandbox_id}`. A client may also send its key or token in a header or in the query.
    public void events(Exchange exchange) {
        var start = new EventSocket.Start(afterSeq(exchange), FeedFilter.of(exchange));
        var opener = EventSocket.opener(sockets.heartbeat(), log, operations, start);
        upgrade(exchange, firstMessage(exchange), opener);
    }

    /// `GET /api/v1/ws/events`. A client may also send its key or token in a header or in the query.
    public void feed(Exchange exchange) {
        var opener = FeedSocket.opener(sockets.heartbeat(), feed, FeedFilter.of(exchange));
        upgrade(exchange, firstMessage(exchange), opener);
    }

    private void upgrade(Exchange exchange, Optional<String> firstMessage, SocketSession.Opener opener) {
        var handshake = exchange.handshake();
        exchange.upgrade(() -> new GuardedSocket(sockets, handshake, firstMessage, opener));
    }

    /// Returns the first message for a client that sends its key or token in the upgrade request.
    private Optional<String> firstMessage(Exchange exchange) {
        return exchange.credential()
                .or(() -> exchange.optionalQuery("token").map(this::checked))
                .map(token -> SocketMessages.message("auth", out -> out.writeStringProperty("token", token)));
    }

    /// Refuses the admin key in a URL, because logs, proxies and browsers store URLs.
    private String checked(String token) {
        if (sockets.admission()
                .find(token)
                .filter(Principal.Admin.class::isInstance)
                .isPresent()) {
            throw new SandboxException(new Failure.NotAuthenticated(
                    "an admin key must not be in an address; send it as 'Authorization: Bearer KEY' or in the first"
                            + " message, and replace it"));
        }
        return token;
    }

    private static long afterSeq(Exchange exchange) {
        try {
            long after =
                    exchange.optionalQuery("after_seq").map(Long::parseLong).orElse(0L);
            if (after >= 0) {
                return after;
            }
        } catch (NumberFormatException e) {
            // The same failure as for a negative number.
        }
        throw SandboxException.invalid("after_seq", "must be a whole number, not negative");
    }
}
