package dev.vivarium.server.socket;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.telemetry.Telemetry;
import java.time.InstantSource;
import java.util.Optional;

/// Handler of the WebSocket routes. Thread-safe.
public final class SocketsHandler {
    private final Sockets sockets;
    private final Audits audits;
    private final Callers callers;
    private final EventLog log;
    private final Operations operations;
    private final Feed feed;

    public SocketsHandler(
            Sockets sockets, Audits audits, Callers callers, EventLog log, Operations operations, Feed feed) {
        this.sockets = sockets;
        this.audits = audits;
        this.callers = callers;
        this.log = log;
        this.operations = operations;
        this.feed = feed;
    }

    /// Audits of the three kinds of sockets. Immutable.
    public record Audits(ShellAudit shells, SocketAudit events, SocketAudit feeds) {
        public static Audits of(Audit audit, Telemetry telemetry, InstantSource clock) {
            return new Audits(
                    new ShellAudit(new SocketAudit(audit, clock, ShellAudit.ROUTE), telemetry),
                    new SocketAudit(audit, clock, "GET /ws/sandboxes/{sandbox_id}"),
                    new SocketAudit(audit, clock, "GET /api/v1/ws/events"));
        }
    }

    /// `GET /sandboxes/{sandbox_id}/shell`.
    public void shell(Exchange exchange) {
        exchange.allowQuery();
        upgrade(exchange, audits.shells().entries(), Optional.empty(), ShellSocket.opener(audits.shells(), callers));
    }

    /// `GET /ws/sandboxes/{sandbox_id}`. A client may also show its key or token in a header or in the query.
    public void events(Exchange exchange) {
        exchange.allowQuery("token", "after_seq", "event_types");
        var start = new EventSocket.Start(afterSeq(exchange), FeedFilter.of(exchange));
        var opener = EventSocket.opener(sockets.heartbeat(), log, operations, start);
        upgrade(exchange, audits.events(), firstMessage(exchange), opener);
    }

    /// `GET /api/v1/ws/events`. A client may also show its key or token in a header or in the query.
    public void feed(Exchange exchange) {
        exchange.allowQuery("token", "event_types", "entity_types", "entity_ids");
        var opener = FeedSocket.opener(sockets.heartbeat(), feed, FeedFilter.of(exchange));
        upgrade(exchange, audits.feeds(), firstMessage(exchange), opener);
    }

    private void upgrade(
            Exchange exchange, SocketAudit audit, Optional<String> firstMessage, SocketSession.Opener opener) {
        var handshake = exchange.handshake();
        exchange.upgrade(() -> new GuardedSocket(sockets, audit, handshake, firstMessage, opener));
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
