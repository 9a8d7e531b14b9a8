package dev.vivarium.server.socket;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.LoopBudget;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
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

/// A socket to something of a sandbox, whose client says in its first message who it is and is there only as long as it
/// may be. Thread-safe.
///
/// The next message is asked for only when the last one has been dealt with, so whoever speaks faster than it is heard
/// is slowed down by TCP and costs nothing.
public abstract class GuardedSocket implements Session.Listener, Presence.Guest {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedSocket.class);

    /// So often may somebody try what they may not do.
    private static final int MAX_REFUSALS = 10;

    private final Sockets sockets;
    private final SocketAudit controlPort;
    private final String sandboxId;

    /// Limits a client that sends messages without pause. Confined to the thread of the current message.
    private final LoopBudget incoming = new LoopBudget();

    private final SocketClient peer = new SocketClient();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean beating = new AtomicBoolean();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile Optional<String> said = Optional.empty();
    private volatile Optional<Credential> session = Optional.empty();
    private volatile Optional<SocketAccess> permit = Optional.empty();
    private volatile Optional<RequestLimits.Places> places = Optional.empty();
    private volatile Runnable onAuthenticated = () -> {};
    private volatile Instant since = Instant.EPOCH;

    GuardedSocket(Sockets sockets, SocketAudit controlPort, String sandboxId) {
        this.sockets = sockets;
        this.controlPort = controlPort;
        this.sandboxId = sandboxId;
    }

    /// Takes what a client said when it made the connection for its first message.
    final GuardedSocket asSaid(Optional<String> first) {
        said = first;
        return this;
    }

    /// Takes what a browser showed when it made the connection, for whoever shows nothing else; and what to run
    /// once the client has shown a good credential.
    final GuardedSocket by(Optional<Credential> browser, Runnable authenticated) {
        session = browser;
        onAuthenticated = authenticated;
        return this;
    }

    /// Lets in whoever may; throws otherwise.
    Caller admit(Admission admission, Credential credential, Scope wanted) {
        return admission.admit(sandboxId, credential, wanted);
    }

    String sandboxId() {
        return sandboxId;
    }

    /// An empty reservation of memory for an answer to `caller`.
    final ByteBudget.Reservation memory(Caller caller) {
        return sockets.admission().memory(caller);
    }

    /// What everybody who comes in needs.
    abstract Scope previewAccess();

    /// Makes room for somebody who was let in, and says by what right they stay. Throws what they are told.
    abstract Scope settle(Caller caller, JsonFields first);

    /// Greets whoever is inside now, or has shown another token.
    abstract void greet();

    /// Does what somebody inside asks for. Throws what they are told.
    abstract void obey(Caller caller, String type, JsonFields message);

    /// Gives up what was made ready, if it was. May come more than once.
    abstract void vacate();

    /// Looks now and then whether there is something to do.
    void scheduler(Caller caller) {}

    /// What whoever is inside is there for; empty when it is not about one sandbox.
    abstract Optional<Presence.Way> way();

    @Override
    public final Optional<Presence.Connection> connection() {
        return permit.flatMap(at -> way().map(way -> Presence.Connection.of(
                new SandboxId(sandboxId), at.caller().principal().orElseThrow(), way, since)));
    }

    SocketClient peer() {
        return peer;
    }

    SocketAudit controlPort() {
        return controlPort;
    }

    /// Current scopes of the client for the sandbox.
    Scopes scopes() {
        return permit.map(at -> at.access().scopes()).orElse(Scopes.NONE);
    }

    boolean isInside() {
        return permit.isPresent();
    }

    @Override
    public final void onWebSocketOpen(Session opened) {
        peer.opened(opened);
        sockets.add(this)
                .ifPresentOrElse(
                        this::close,
                        // Who said it already when the connection was made need not say it again.
                        () -> said.ifPresentOrElse(this::onWebSocketText, peer::demand));
    }

    @Override
    public final void onWebSocketText(String text) {
        peer.spoke();
        // What is asked for may have to wait; the workers that watch sockets must not.
        Thread.ofVirtual().name("socket-in").start(() -> deal(text));
    }

    @Override
    public final void onWebSocketBinary(ByteBuffer payload, Callback callback) {
        callback.succeed();
        if (permit.isEmpty()) {
            close(CloseReason.of(new Failure.NotAuthenticated("the first message must be text")));
        } else {
            Thread.ofVirtual().name("socket-in").start(() -> {
                peer.complain(new Failure.InvalidRequest("message", "must be text"));
                peer.demand();
            });
        }
    }

    @Override
    public final void onWebSocketPong(ByteBuffer payload) {
        peer.heard();
        peer.demand();
    }

    @Override
    public final void onWebSocketClose(int code, String reason, Callback callback) {
        callback.succeed();
        leave();
    }

    @Override
    public final void onWebSocketError(Throwable cause) {
        LOG.debug("a socket broke", cause);
        leave();
    }

    private void deal(String text) {
        try {
            incoming.spend(text.length());
            if (permit.isEmpty()) {
                enter(text);
            } else {
                hear(permit.get(), text);
            }
            incoming.blocks();
            peer.demand();
        } catch (CompletionException e) {
            LOG.debug("a socket broke while writing", e);
            leave();
        } catch (RuntimeException e) {
            LOG.error("a message to a socket failed", e);
            close(CloseReason.of(new Failure.Internal(sandboxId)));
        }
    }

    /// Lets somebody in who says who they are, or closes the socket.
    private void enter(String text) {
        try {
            JsonFields fields = first(text);
            Credential shown = AuthMessage.credential(fields, session);
            Caller caller = admit(shown, previewAccess());
            onAuthenticated.run();
            places = caller.principal().map(sockets.admission().requests()::stream);
            Scope needed = settle(caller, fields);
            since = controlPort.now();
            peer.trust();
            sockets.known(this);
            adopt(new SocketAccess(caller, shown, needed, hold(caller, shown, needed)));
            greet();
        } catch (SandboxException e) {
            refuse(e.failure());
        }
        leaveIfClosing();
    }

    private static JsonFields first(String text) {
        try {
            return Json.request(text.getBytes(StandardCharsets.UTF_8));
        } catch (SandboxException e) {
            throw new SandboxException(new Failure.NotAuthenticated("the first message must be a JSON object"), e);
        }
    }

    /// A refusal is on record.
    private Caller admit(Credential credential, Scope wanted) {
        try {
            return admit(sockets.admission(), credential, wanted);
        } catch (SandboxException e) {
            var who = sockets.admission().find(credential);
            controlPort.refused(sandboxId, who, e.failure());
            throw new SandboxException(shownTo(who, e.failure()), e);
        }
    }

    /// A token for another sandbox is not a token here. Only the holder of a key is told that a sandbox does not
    /// exist.
    private static Failure shownTo(Optional<Principal> who, Failure failure) {
        boolean isHidden = failure instanceof Failure.NoSuchSandbox
                && who.filter(Principal.Holder.class::isInstance).isPresent();
        return isHidden ? new Failure.NotAuthenticated("the token is not for this sandbox") : failure;
    }

    private Access hold(Caller caller, Credential shown, Scope needed) {
        var admission = sockets.admission();
        return admission.hold(caller, shown, () -> admit(admission, shown, needed), failure -> lost(shown, failure));
    }

    /// The right may have been lost before the permit was here.
    private void adopt(SocketAccess next) {
        permit = Optional.of(next);
        next.access().loss().ifPresent(failure -> lost(next.credential(), failure));
    }

    /// The client has lost the right by which it is connected.
    private void lost(Credential shown, Failure failure) {
        permit.filter(at -> at.credential().equals(shown)).ifPresent(at -> {
            controlPort.refused(at.caller(), failure);
            close(CloseReason.of(shownTo(at.caller().principal(), failure)));
        });
    }

    private void refuse(Failure failure) {
        CloseReason why = CloseReason.of(failure);
        if (!why.isRefusal()) {
            peer.complain(failure);
        }
        close(why);
    }

    /// What cannot be done is told and changes nothing.
    private void hear(SocketAccess at, String text) {
        try {
            JsonFields fields = Json.request(text.getBytes(StandardCharsets.UTF_8));
            String type = fields.string("type");
            switch (type) {
                case "ping" -> peer.send(SocketMessages.pong());
                case "auth" -> renew(at, new Credential.Shown(fields.string("token")));
                default -> obey(at.caller(), type, fields);
            }
        } catch (SandboxException e) {
            peer.complain(e.failure());
            if (e.failure() instanceof Failure.NotAllowed) {
                notAllowed(at, e.failure());
            }
        }
    }

    private void notAllowed(SocketAccess at, Failure failure) {
        controlPort.refused(at.caller(), failure);
        if (refusals.incrementAndGet() >= MAX_REFUSALS) {
            close(CloseReason.tooOften());
        }
    }

    /// Another token of the same person, before the first expires. It must allow what they do here.
    private void renew(SocketAccess at, Credential shown) {
        Caller caller = admit(shown, at.needed());
        var before = at.caller().principal().orElseThrow().name();
        if (!caller.principal().orElseThrow().name().equals(before)) {
            throw new SandboxException(new Failure.NotAllowed("that token is somebody else's"));
        }
        adopt(new SocketAccess(caller, shown, at.needed(), hold(caller, shown, at.needed())));
        at.close();
        greet();
        leaveIfClosing();
    }

    /// Does what is due now and then.
    final void beat() {
        // To look a sandbox up may take many beats.
        if (beating.compareAndSet(false, true)) {
            try {
                permit.ifPresent(at -> scheduler(at.caller()));
            } finally {
                beating.set(false);
            }
        }
    }

    private void leaveIfClosing() {
        if (closing.get()) {
            leave();
        }
    }

    /// Says why and hangs up; does not wait for a client that does not listen. Idempotent.
    final void close(CloseReason why) {
        if (closing.compareAndSet(false, true)) {
            leave();
            peer.hangUp(why);
            sockets.cutSoon(peer);
        }
    }

    final void leave() {
        closing.set(true);
        sockets.remove(this);
        permit.ifPresent(SocketAccess::close);
        places.ifPresent(RequestLimits.Places::close);
        vacate();
    }
}
