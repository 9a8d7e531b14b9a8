package dev.vivarium.server.socket;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.telemetry.Telemetry;
import java.util.Optional;

/// Handler of the WebSocket routes. Thread-safe.
public final class SocketsHandler {
    private final Sockets sockets;
    private final Callers callers;
    private final Telemetry telemetry;
    private final EventLog log;
    private final Operations operations;
    private final Feed feed;

    public SocketsHandler(
            Sockets sockets, Callers callers, Telemetry telemetry, EventLog log, Operations operations, Feed feed) {
        this.sockets = sockets;
        this.callers = callers;
        this.telemetry = telemetry;
        this.log = log;
        this.operations = operations;
        this.feed = feed;
    }

    /// `GET /sandboxes/{sandbox_id}/shell`.
    public void shell(Exchange exchange) {
        exchange.allowQuery();
        upgrade(exchange, Optional.empty(), ShellSocket.opener(telemetry, callers));
    }

    /// `GET /ws/sandboxes/{sandbox_id}`. A client may also show its key or token in a header or in the query.
    public void events(Exchange exchange) {
        exchange.allowQuery("token", "after_seq", "event_types");
        var start = new EventSocket.Start(afterSeq(exchange), FeedFilter.of(exchange));
        var opener = EventSocket.opener(sockets.heartbeat(), log, operations, start);
        upgrade(exchange, firstMessage(exchange), opener);
    }

    /// `GET /api/v1/ws/events`. A client may also show its key or token in a header or in the query.
    public void feed(Exchange exchange) {
        exchange.allowQuery("token", "event_types", "entity_types", "entity_ids");
        var opener = FeedSocket.opener(sockets.heartbeat(), feed, FeedFilter.of(exchange));
        upgrade(exchange, firstMessage(exchange), opener);
    }

    private void upgrade(Exchange exchange, Optional<String> firstMessage, SocketSession.Opener opener) {
        var handshake = exchange.handshake();
        exchange.upgrade(() -> new GuardedSocket(sockets, handshake, firstMessage, opener));
    }

    /// Returns the first message for a client that shows its key or token in the upgrade request.
    private static Optional<String> firstMessage(Exchange exchange) {
        return exchange.credential()
                .or(() -> exchange.optionalQuery("token"))
                .map(token -> SocketMessages.message("auth", out -> out.writeStringProperty("token", token)));
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
        throw new SandboxException(new Failure.InvalidRequest("after_seq", "must be a whole number, not negative"));
    }
}
