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

/// The routes that become sockets. Who comes is asked there, in the first message. Thread-safe.
public final class SocketsHandler {
    private final Sockets sockets;
    private final Audits audits;
    private final Callers callers;
    private final EventLog log;
    private final Operations operations;
    private final Feed feed;

    public SocketsHandler(
            Sockets sockets,
            Audits audits,
            Callers callers,
            EventLog log,
            Operations operations,
            Feed feed) {
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
        String sandboxId = exchange.path("sandbox_id");
        var session = exchange.session();
        Runnable onAuthenticated = exchange.onAuthenticated();
        exchange.upgrade(() ->
                new ShellSocket(sockets, audits.shells(), callers, sandboxId).by(session, onAuthenticated));
    }

    /// `GET /ws/sandboxes/{sandbox_id}`. Clients that cannot choose what they say first may show a key or a token
    /// in a header or in the query.
    public void events(Exchange exchange) {
        exchange.allowQuery("token", "after_seq", "event_types");
        var from = new EventSocket.Start(exchange.path("sandbox_id"), afterSeq(exchange), FeedFilter.of(exchange));
        Optional<String> first = first(exchange);
        var session = exchange.session();
        Runnable onAuthenticated = exchange.onAuthenticated();
        exchange.upgrade(() -> new EventSocket(sockets, audits.events(), log, operations, from)
                .by(session, onAuthenticated)
                .asSaid(first));
    }

    /// `GET /api/v1/ws/events`, in the same way.
    public void feed(Exchange exchange) {
        exchange.allowQuery("token", "event_types", "entity_types", "entity_ids");
        FeedFilter filter = FeedFilter.of(exchange);
        Optional<String> first = first(exchange);
        var session = exchange.session();
        Runnable onAuthenticated = exchange.onAuthenticated();
        exchange.upgrade(() -> new FeedSocket(sockets, audits.feeds(), feed, filter)
                .by(session, onAuthenticated)
                .asSaid(first));
    }

    /// What a client would have said first that shows its key or token elsewhere.
    private static Optional<String> first(Exchange exchange) {
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
            // It is told the same.
        }
        throw new SandboxException(new Failure.InvalidRequest("after_seq", "must be a whole number, not negative"));
    }
}
