package dev.vivarium.server.socket;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.LoopBudget;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Handshake;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.http.RequestLimits;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// WebSocket whose client authenticates with its first message. Thread-safe.
///
/// A [SocketSession] handles the messages of an authenticated client. The socket closes when the client loses its
/// right. The socket reads the next message after it has handled the last one, so that TCP slows down a fast client.
public final class GuardedSocket implements Session.Listener, Presence.Client {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedSocket.class);

    /// Number of refused messages after which the socket closes.
    private static final int MAX_REFUSALS = 10;

    private final Sockets sockets;
    private final SocketAudit audit;
    private final Handshake handshake;
    private final Optional<String> firstMessage;
    private final SocketSession.Opener opener;
    private final SocketClient client = new SocketClient();

    /// Limits a client that sends messages without pause. Confined to the thread of the current message.
    private final LoopBudget incoming = new LoopBudget();

    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile Optional<Entry> entry = Optional.empty();
    private volatile Optional<SocketSession> session = Optional.empty();
    private volatile Optional<RequestLimits.Slots> slots = Optional.empty();
    private volatile Instant since = Instant.EPOCH;

    /// Right of the client: its identity, its credential, and the access that reports the loss.
    private record Entry(Caller caller, Credential credential, Access access) {
        Principal principal() {
            return caller.principal().orElseThrow();
        }

        @Override
        public String toString() {
            return "Entry[" + principal().name() + "]";
        }
    }

    /// @param firstMessage authentication from the upgrade request, in place of the first message
    GuardedSocket(Sockets sockets, Handshake handshake, Optional<String> firstMessage, SocketSession.Opener opener) {
        this.sockets = sockets;
        this.audit = sockets.audit(handshake.name());
        this.handshake = handshake;
        this.firstMessage = firstMessage;
        this.opener = opener;
    }

    @Override
    public Optional<Presence.Connection> connection() {
        return entry.flatMap(at -> session.flatMap(SocketSession::purpose)
                .map(purpose -> Presence.Connection.of(new SandboxId(sandboxId()), at.principal(), purpose, since)));
    }

    String sandboxId() {
        return handshake.sandboxId();
    }

    SocketClient client() {
        return client;
    }

    SocketAudit audit() {
        return audit;
    }

    /// Returns an empty memory reservation for a response to `caller`.
    ByteBudget.Reservation memory(Caller caller) {
        return sockets.admission().memory(caller);
    }

    /// Returns the client's current scopes for the sandbox.
    Scopes scopes() {
        return entry.map(at -> at.access().scopes()).orElse(Scopes.NONE);
    }

    boolean isAuthenticated() {
        return entry.isPresent();
    }

    /// Does the periodic work of the session.
    void tick() {
        session.ifPresent(SocketSession::tick);
    }

    @Override
    public void onWebSocketOpen(Session opened) {
        client.opened(opened);
        sockets.add(this)
                .ifPresentOrElse(
                        this::close, () -> firstMessage.ifPresentOrElse(this::onWebSocketText, client::demand));
    }

    @Override
    public void onWebSocketText(String text) {
        client.messageReceived();
        // Handling may block, and the threads of the WebSocket container must not.
        Thread.ofVirtual().name("socket-in").start(() -> handle(text));
    }

    @Override
    public void onWebSocketBinary(ByteBuffer payload, Callback callback) {
        callback.succeed();
        if (!isAuthenticated()) {
            close(CloseReason.of(new Failure.NotAuthenticated("the first message must be text")));
        } else {
            Thread.ofVirtual().name("socket-in").start(() -> {
                client.sendError(new Failure.InvalidRequest("message", "must be text"));
                client.demand();
            });
        }
    }

    @Override
    public void onWebSocketPong(ByteBuffer payload) {
        client.received();
        client.demand();
    }

    @Override
    public void onWebSocketClose(int code, String reason, Callback callback) {
        callback.succeed();
        leave();
    }

    @Override
    public void onWebSocketError(Throwable cause) {
        LOG.debug("a socket failed", cause);
        leave();
    }

    private void handle(String text) {
        try {
            incoming.spend(text.length());
            if (entry.isPresent()) {
                receive(entry.get(), text);
            } else {
                authenticate(text);
            }
            incoming.blocks();
            client.demand();
        } catch (CompletionException e) {
            LOG.debug("a socket failed while writing", e);
            leave();
        } catch (RuntimeException e) {
            LOG.error("a message to a socket failed", e);
            close(CloseReason.of(new Failure.Internal(sandboxId())));
        }
    }

    private void authenticate(String text) {
        Optional<Credential> credential = Optional.empty();
        try {
            JsonFields fields = first(text);
            Credential shown = AuthMessage.credential(fields, handshake.session());
            credential = Optional.of(shown);
            Caller caller = admit(shown, handshake.scope());
            handshake.onAuthenticated().run();
            slots = caller.principal().map(sockets.admission().requests()::stream);
            SocketSession opened = opener.open(this, caller, fields);
            session = Optional.of(opened);
            since = audit.now();
            client.authenticated();
            sockets.authenticated(this);
            hold(caller, shown, opened.needed());
            client.send(opened.authenticatedMessage());
            Thread.ofVirtual().name("socket-out").start(() -> run(opened));
        } catch (SandboxException e) {
            delayIfNotAuthenticated(credential, e.failure());
            refuse(e.failure());
        }
        leaveIfClosing();
    }

    private void delayIfNotAuthenticated(Optional<Credential> credential, Failure failure) {
        if (failure instanceof Failure.NotAuthenticated) {
            sockets.admission().delayFailure(handshake.address(), credential, new Cancellation());
        }
    }

    private static JsonFields first(String text) {
        try {
            return Json.request(text.getBytes(StandardCharsets.UTF_8));
        } catch (SandboxException e) {
            throw new SandboxException(new Failure.NotAuthenticated("the first message must be a JSON object"), e);
        }
    }

    /// Admits the client. The audit records a refusal.
    private Caller admit(Credential credential, Scope wanted) {
        try {
            return handshake.admit(sockets.admission(), credential, wanted);
        } catch (SandboxException e) {
            var who = sockets.admission().find(credential);
            audit.refused(sandboxId(), who, e.failure());
            throw new SandboxException(shownTo(who, e.failure()), e);
        }
    }

    /// Only the holder of a key learns that a sandbox does not exist. A token for another sandbox is invalid here.
    private static Failure shownTo(Optional<Principal> who, Failure failure) {
        boolean isHidden = failure instanceof Failure.NoSuchSandbox
                && who.filter(Principal.Holder.class::isInstance).isPresent();
        return isHidden ? new Failure.NotAuthenticated("the token is not for this sandbox") : failure;
    }

    /// Holds the client's right, and closes the socket when the right is lost.
    private void hold(Caller caller, Credential shown, Scope needed) {
        var admission = sockets.admission();
        var held = admission.hold(
                caller, shown, () -> handshake.admit(admission, shown, needed), failure -> lost(shown, failure));
        entry = Optional.of(new Entry(caller, shown, held));
        // The right may have been lost before `entry` was set.
        held.loss().ifPresent(failure -> lost(shown, failure));
    }

    private void lost(Credential shown, Failure failure) {
        entry.filter(at -> at.credential().equals(shown)).ifPresent(at -> {
            audit.refused(at.caller(), failure);
            close(CloseReason.of(shownTo(at.caller().principal(), failure)));
        });
    }

    private void refuse(Failure failure) {
        CloseReason why = CloseReason.of(failure);
        if (!why.isRefusal()) {
            client.sendError(failure);
        }
        close(why);
    }

    private void run(SocketSession opened) {
        try {
            opened.run();
        } catch (CompletionException e) {
            LOG.debug("the client of a socket disconnected", e);
            leave();
        } catch (SandboxException e) {
            close(CloseReason.of(e.failure()));
        } catch (InterruptedException e) {
            close(CloseReason.stopping());
        }
    }

    /// Handles a message. The client receives an error if it cannot be handled.
    private void receive(Entry at, String text) {
        try {
            JsonFields fields = Json.request(text.getBytes(StandardCharsets.UTF_8));
            String type = fields.string("type");
            switch (type) {
                case "ping" -> client.send(SocketMessages.message("pong", out -> {}));
                case "auth" -> renew(at, new Credential.Shown(fields.string("token")));
                default -> session.orElseThrow().receive(at.caller(), type, fields);
            }
        } catch (SandboxException e) {
            client.sendError(e.failure());
            if (e.failure() instanceof Failure.NotAllowed) {
                notAllowed(at, e.failure());
            }
        }
    }

    private void notAllowed(Entry at, Failure failure) {
        audit.refused(at.caller(), failure);
        if (refusals.incrementAndGet() >= MAX_REFUSALS) {
            close(CloseReason.tooOften());
        }
    }

    /// Replaces the token by another one of the same user, before the first expires.
    private void renew(Entry at, Credential shown) {
        var current = session.orElseThrow();
        Caller caller = admit(shown, current.needed());
        if (!caller.principal().orElseThrow().name().equals(at.principal().name())) {
            throw new SandboxException(new Failure.NotAllowed("the token belongs to another user"));
        }
        hold(caller, shown, current.needed());
        at.access().close();
        client.send(current.authenticatedMessage());
        leaveIfClosing();
    }

    private void leaveIfClosing() {
        if (closing.get()) {
            leave();
        }
    }

    /// Sends the reason and closes the socket. Does not wait for the client. Idempotent.
    void close(CloseReason why) {
        if (closing.compareAndSet(false, true)) {
            leave();
            client.sendClose(why);
            sockets.disconnectLater(client);
        }
    }

    /// Releases everything that the socket holds. Idempotent.
    void leave() {
        closing.set(true);
        sockets.remove(this);
        entry.ifPresent(at -> at.access().close());
        slots.ifPresent(RequestLimits.Slots::close);
        session.ifPresent(SocketSession::close);
    }
}
