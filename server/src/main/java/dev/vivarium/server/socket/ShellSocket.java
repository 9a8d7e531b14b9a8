package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Watch;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.shell.Participant;
import dev.vivarium.core.shell.Participant.Role;
import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.ShellEvent;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Caller;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One socket to a shell. Thread-safe.
///
/// The next message is asked for only when the last one has been dealt with, so whoever types faster than the process
/// reads is slowed down by TCP and costs nothing. One worker writes what the shell shows, one message after another;
/// what else there is to say waits its turn in [Peer#send].
public final class ShellSocket implements Session.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(ShellSocket.class);

    /// So often may somebody try what they may not do.
    private static final int MAX_REFUSALS = 10;

    private final ShellSockets sockets;
    private final String sandboxId;
    private final Peer peer = new Peer();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean beating = new AtomicBoolean();
    private final AtomicInteger refusals = new AtomicInteger();
    private final Typing typing = new Typing();
    private volatile Optional<Place> place = Optional.empty();

    /// Where somebody is, once they were let in, and by what right.
    private record Place(Permit permit, Viewer viewer) {
        Sandbox sandbox() {
            return permit.caller().sandbox().orElseThrow();
        }
    }

    ShellSocket(ShellSockets sockets, String sandboxId) {
        this.sockets = sockets;
        this.sandboxId = sandboxId;
    }

    @Override
    public void onWebSocketOpen(Session opened) {
        peer.opened(opened);
        if (sockets.add(this)) {
            peer.demand();
        } else {
            close(Close.stopping());
        }
    }

    @Override
    public void onWebSocketText(String text) {
        peer.spoke();
        // Typing may wait for the process; the workers that watch sockets must not.
        Thread.ofVirtual().name("shell-in").start(() -> deal(text));
    }

    @Override
    public void onWebSocketBinary(ByteBuffer payload, Callback callback) {
        callback.succeed();
        if (place.isEmpty()) {
            close(Close.of(new Failure.NotAuthenticated("the first message must be text")));
        } else {
            Thread.ofVirtual().name("shell-in").start(() -> {
                peer.complain(new Failure.InvalidRequest("message", "must be text"));
                peer.demand();
            });
        }
    }

    @Override
    public void onWebSocketPong(ByteBuffer payload) {
        peer.heard();
        peer.demand();
    }

    @Override
    public void onWebSocketClose(int code, String reason, Callback callback) {
        callback.succeed();
        leave();
    }

    @Override
    public void onWebSocketError(Throwable cause) {
        LOG.debug("a shell's socket broke", cause);
        leave();
    }

    private void deal(String text) {
        try {
            if (place.isEmpty()) {
                enter(text);
            } else {
                obey(place.get(), text);
            }
            peer.demand();
        } catch (CompletionException e) {
            LOG.debug("a shell's socket broke while writing", e);
            leave();
        } catch (RuntimeException e) {
            LOG.error("a message to a shell failed", e);
            close(Close.of(new Failure.Internal(sandboxId)));
        }
    }

    /// Lets somebody in who says who they are, or closes the socket.
    private void enter(String text) {
        try {
            JsonFields fields = first(text);
            String token = Auth.token(fields);
            Caller caller = sockets.admit(sandboxId, token, Scope.SHELL_RO);
            settle(caller, token, Auth.read(fields));
            // The right may have ended before anybody listened for that.
            check();
        } catch (SandboxException e) {
            refuse(e.failure());
        }
        if (closing.get()) {
            leave();
        }
    }

    private void settle(Caller caller, String token, Auth auth) {
        boolean types = auth.hands() == Auth.Hands.ON && caller.scopes().allows(Scope.SHELL);
        Role role = types ? Role.TYPIST : Role.WATCHER;
        Sandbox sandbox = caller.sandbox().orElseThrow();
        sockets.callers().requireAwake(sandbox);
        Shell shell = shell(sandbox, auth, role);
        var user = caller.principal().orElseThrow().name();
        Viewer viewer = shell.join(new Participant(user, role, sockets.witness().now()));
        place = Optional.of(new Place(permit(caller, token, role), viewer));
        peer.trust();
        auth.size().ifPresent(viewer::resize);
        sockets.witness().entered(caller, viewer);
        peer.send(Messages.authOk(shell, role));
        Thread.ofVirtual().name("shell-out-" + shell.id()).start(() -> show(viewer));
    }

    private Permit permit(Caller caller, String token, Role role) {
        Scope needed = role == Role.TYPIST ? Scope.SHELL : Scope.SHELL_RO;
        return new Permit(caller, token, needed, sockets.watch(caller, why -> ended(token, why)));
    }

    private static JsonFields first(String text) {
        try {
            return Json.request(text.getBytes(StandardCharsets.UTF_8));
        } catch (SandboxException e) {
            throw new SandboxException(new Failure.NotAuthenticated("the first message must be a JSON object"), e);
        }
    }

    private static Shell shell(Sandbox sandbox, Auth auth, Role role) {
        if (auth.session().isPresent()) {
            return sandbox.shells().require(auth.session().get());
        }
        if (role == Role.TYPIST) {
            return sandbox.shell(auth.command(), auth.size().orElse(TerminalSize.USUAL));
        }
        return sandbox.shells()
                .newest()
                .orElseThrow(() -> new SandboxException(new Failure.Unrecognized(
                        "no-such-shell", 404, "there is no shell to watch; somebody who may type has to open one")));
    }

    private void refuse(Failure failure) {
        Close why = Close.of(failure);
        if (!why.isRefusal()) {
            peer.complain(failure);
        }
        close(why);
    }

    /// Does what somebody inside asks for; what cannot be done is told and changes nothing.
    private void obey(Place at, String text) {
        try {
            JsonFields fields = Json.request(text.getBytes(StandardCharsets.UTF_8));
            switch (fields.string("type")) {
                case "stdin" -> type(at, fields.string("data"));
                case "resize" -> resize(at, fields);
                case "signal" -> signal(at, fields.string("name"));
                case "ping" -> peer.send(Messages.pong());
                case "auth" -> renew(at, fields.string("token"));
                default ->
                    throw new SandboxException(
                            new Failure.InvalidRequest("type", "must be stdin, resize, signal, ping or auth"));
            }
        } catch (SandboxException e) {
            peer.complain(e.failure());
            if (e.failure() instanceof Failure.NotAllowed) {
                notAllowed(at, e.failure());
            }
        }
    }

    private void notAllowed(Place at, Failure failure) {
        sockets.witness().refused(at.permit().caller(), failure);
        if (refusals.incrementAndGet() >= MAX_REFUSALS) {
            close(Close.tooOften());
        }
    }

    private void type(Place at, String data) {
        at.viewer().requireTypist();
        sockets.callers().requireAwake(at.sandbox());
        at.viewer().type(data);
        typing.add(data);
    }

    private void signal(Place at, String name) {
        var signal = Signal.find(name)
                .orElseThrow(() -> new SandboxException(
                        new Failure.InvalidRequest("name", "must be one of " + Arrays.toString(Signal.values()))));
        at.viewer().signal(signal);
        sockets.witness().signalled(at.permit().caller(), at.viewer(), signal);
    }

    private void attribute(Place at, int characters) {
        if (characters > 0) {
            sockets.witness().typed(at.permit().caller(), at.viewer(), characters);
        }
    }

    private static void resize(Place at, JsonFields fields) {
        fields.integer("cols");
        fields.integer("rows");
        Auth.size(fields).ifPresent(at.viewer()::resize);
    }

    /// Another token of the same person, before the first expires. It must allow what they do here.
    private void renew(Place at, String token) {
        Caller caller = sockets.admit(sandboxId, token, at.permit().needed());
        if (!caller.principal().orElseThrow().name().equals(at.viewer().who().user())) {
            throw new SandboxException(new Failure.NotAllowed("that token is somebody else's"));
        }
        Role role = at.viewer().who().role();
        place = Optional.of(new Place(permit(caller, token, role), at.viewer()));
        at.permit().close();
        peer.send(Messages.authOk(at.viewer().shell(), role));
        check();
        if (closing.get()) {
            leave();
        }
    }

    private void show(Viewer viewer) {
        try {
            while (true) {
                ShellEvent event = viewer.next();
                if (event instanceof ShellEvent.Left) {
                    return;
                }
                peer.send(Messages.of(event));
                if (event instanceof ShellEvent.Exited) {
                    close(Close.ended());
                } else if (event instanceof ShellEvent.Gone(Failure failure)) {
                    close(Close.of(failure));
                }
            }
        } catch (CompletionException e) {
            LOG.debug("a viewer of a shell has gone", e);
            leave();
        }
    }

    /// Does what is due now and then: puts on record what was typed, and looks whether a key is still good.
    void beat() {
        // To look a sandbox up may take many beats.
        if (beating.compareAndSet(false, true)) {
            try {
                place.ifPresent(this::beat);
            } finally {
                beating.set(false);
            }
        }
    }

    private void beat(Place at) {
        attribute(at, typing.takeDue());
        if (at.permit().watch().isEmpty()) {
            check();
        }
    }

    /// Looks whether the one inside may still be there.
    private void check() {
        place.ifPresent(at -> {
            try {
                sockets.admit(sandboxId, at.permit().credential(), at.permit().needed());
            } catch (SandboxException e) {
                // That a sandbox ended is told by its shell, with the reason.
                boolean isForeign = e.failure() instanceof Failure.NoSuchSandbox none
                        && none.end().isEmpty();
                Close why = Close.of(e.failure());
                if (why.isRefusal() || isForeign) {
                    close(why);
                }
            }
        });
    }

    /// The token by which somebody came in has ended.
    private void ended(String token, Watch.Ended why) {
        Optional<Place> now = place.filter(at -> at.permit().credential().equals(token));
        if (now.isEmpty()) {
            return;
        }
        switch (why) {
            case SANDBOX_ENDED -> {
                // Told by its shell, with the reason.
            }
            case UNINVITED -> askAgain(now.get());
            case EXPIRED -> expel(now.get(), "the token has expired; ask for a new one and come back");
            case REPLACED -> expel(now.get(), "the token was replaced; show the new one in time");
            case REVOKED, ROTATED -> expel(now.get(), "the token was revoked; ask for a new one and come back");
        }
    }

    private void expel(Place at, String why) {
        var failure = new Failure.NotAuthenticated(why);
        sockets.witness().refused(at.permit().caller(), failure);
        close(Close.of(failure));
    }

    /// The rights have changed; perhaps they are still enough.
    private void askAgain(Place at) {
        Permit old = at.permit();
        place = Optional.of(new Place(
                permit(old.caller(), old.credential(), at.viewer().who().role()), at.viewer()));
        old.close();
        check();
        if (closing.get()) {
            leave();
        }
    }

    boolean isInside() {
        return place.isPresent();
    }

    Peer peer() {
        return peer;
    }

    /// Says why and hangs up; does not wait for a client that does not listen. Idempotent.
    void close(Close why) {
        if (closing.compareAndSet(false, true)) {
            leave();
            peer.hangUp(why);
            sockets.cutSoon(peer);
        }
    }

    private void leave() {
        closing.set(true);
        sockets.remove(this);
        place.ifPresent(at -> {
            attribute(at, typing.takeAll());
            at.permit().close();
            at.viewer().close();
        });
    }
}
