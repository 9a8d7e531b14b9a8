package dev.vivarium.server.socket;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.http.Exchange;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// The routes that become sockets. Who comes is asked there, in the first message. Thread-safe.
public final class SocketsHandler {
    private final Sockets sockets;
    private final ShellWitness shells;
    private final SocketWitness watchers;
    private final Callers callers;
    private final EventLog log;
    private final Inbox inbox;

    public SocketsHandler(
            Sockets sockets, ShellWitness shells, SocketWitness watchers, Callers callers, EventLog log, Inbox inbox) {
        this.sockets = sockets;
        this.shells = shells;
        this.watchers = watchers;
        this.callers = callers;
        this.log = log;
        this.inbox = inbox;
    }

    /// `GET /sandboxes/{sandbox_id}/shell`.
    public void shell(Exchange exchange) {
        exchange.allowQuery();
        String sandboxId = exchange.path("sandbox_id");
        exchange.upgrade(() -> new ShellSocket(sockets, shells, callers, sandboxId));
    }

    /// `GET /ws/sandboxes/{sandbox_id}`. Clients that cannot choose what they say first may show a key or a token
    /// in a header or in the query.
    public void events(Exchange exchange) {
        exchange.allowQuery("token", "after_seq");
        String sandboxId = exchange.path("sandbox_id");
        Optional<String> first = exchange.credential()
                .or(() -> exchange.optionalQuery("token"))
                .map(token -> first(token, exchange.optionalQuery("after_seq")));
        exchange.upgrade(() -> new EventSocket(sockets, watchers, log, inbox, sandboxId).asSaid(first));
    }

    private static String first(String token, Optional<String> afterSeq) {
        long after;
        try {
            after = afterSeq.map(Long::parseLong).orElse(0L);
        } catch (NumberFormatException e) {
            throw new SandboxException(new Failure.InvalidRequest("after_seq", "must be a whole number"), e);
        }
        byte[] message = Json.bytes(out -> {
            out.writeStringProperty("type", "auth");
            out.writeStringProperty("token", token);
            out.writeNumberProperty("after_seq", after);
        });
        return new String(message, StandardCharsets.UTF_8);
    }
}
