package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
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
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One socket to a shell. Thread-safe.
///
/// The next message is asked for only when the last one has been dealt with, so whoever types faster than the process
/// reads is slowed down by TCP and costs nothing. One worker writes what the shell shows, one message after another;
/// what else there is to say waits its turn in [#send].
public final class ShellSocket implements Session.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(ShellSocket.class);
    private static final long MAX_FIRST_MESSAGE = 16 * 1024;
    private static final int LONG_LINE = 4_096;
    private static final long MAX_MESSAGE = 512 * 1024;

    private final ShellSockets sockets;
    private final String sandboxId;
    private final AtomicBoolean closing = new AtomicBoolean();

    /// What was typed and not attributed yet.
    private final AtomicInteger typed = new AtomicInteger();

    /// Held while a message is being written: another may not come between its frames.
    private final ReentrantLock sending = new ReentrantLock();

    private volatile Optional<Session> session = Optional.empty();
    private volatile Optional<Place> place = Optional.empty();
    private final long openedAt = System.nanoTime();
    private volatile long heardAt = openedAt;
    private volatile boolean spoken;

    /// Where somebody is, once they were let in, and by what right.
    private record Place(Sandbox sandbox, Viewer viewer, String credential, Scope needed) {}

    ShellSocket(ShellSockets sockets, String sandboxId) {
        this.sockets = sockets;
        this.sandboxId = sandboxId;
    }

    @Override
    public void onWebSocketOpen(Session opened) {
        opened.setMaxTextMessageSize(MAX_FIRST_MESSAGE);
        opened.setMaxBinaryMessageSize(MAX_FIRST_MESSAGE);
        session = Optional.of(opened);
        if (sockets.add(this)) {
            opened.demand();
        } else {
            close(Close.stopping());
        }
    }

    @Override
    public void onWebSocketText(String text) {
        heardAt = System.nanoTime();
        spoken = true;
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
                complain(new Failure.InvalidRequest("message", "must be text"));
                demand();
            });
        }
    }

    @Override
    public void onWebSocketPong(ByteBuffer payload) {
        heardAt = System.nanoTime();
        demand();
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

    private void demand() {
        session.filter(Session::isOpen).ifPresent(Session::demand);
    }

    private void deal(String text) {
        try {
            if (place.isEmpty()) {
                enter(text);
            } else {
                obey(place.get(), text);
            }
            demand();
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
            Auth auth = Auth.read(fields);
            Role role = caller.scopes().allows(Scope.SHELL) ? Role.TYPIST : Role.WATCHER;
            Sandbox sandbox = caller.sandbox().orElseThrow();
            sockets.wake().awaken(sandbox);
            Shell shell = shell(sandbox, auth, role);
            var who = new Participant(caller.principal().orElseThrow().name(), role, sockets.now());
            Viewer viewer = shell.join(who);
            place = Optional.of(new Place(sandbox, viewer, token, role == Role.TYPIST ? Scope.SHELL : Scope.SHELL_RO));
            session.ifPresent(open -> open.setMaxTextMessageSize(MAX_MESSAGE));
            auth.size().ifPresent(viewer::resize);
            send(Messages.authOk(shell, role));
            Thread.ofVirtual().name("shell-out-" + shell.id()).start(() -> show(viewer));
        } catch (SandboxException e) {
            refuse(e.failure());
        }
        if (closing.get()) {
            leave();
        }
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
            complain(failure);
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
                case "signal" -> at.viewer().signal(SignalName.of(fields.string("name")).number);
                case "ping" -> send(Messages.pong());
                case "auth" -> renew(at, fields.string("token"));
                default ->
                    throw new SandboxException(
                            new Failure.InvalidRequest("type", "must be stdin, resize, signal, ping or auth"));
            }
        } catch (SandboxException e) {
            complain(e.failure());
        }
    }

    private void type(Place at, String data) {
        sockets.wake().awaken(at.sandbox());
        at.viewer().type(data);
        boolean line = data.indexOf('\r') >= 0 || data.indexOf('\n') >= 0;
        if (typed.addAndGet(data.length()) > LONG_LINE || line) {
            attribute(at);
        }
    }

    /// A line at a time: a note for each key would drown all others.
    private void attribute(Place at) {
        int characters = typed.getAndSet(0);
        if (characters > 0) {
            sockets.typed(at.viewer(), at.sandbox(), characters);
        }
    }

    private static void resize(Place at, JsonFields fields) {
        fields.integer("cols");
        fields.integer("rows");
        Auth.size(fields).ifPresent(at.viewer()::resize);
    }

    /// Another token of the same person, before the first expires. It must allow what they do here.
    private void renew(Place at, String token) {
        Caller caller = sockets.admit(sandboxId, token, at.needed());
        if (!caller.principal().orElseThrow().name().equals(at.viewer().who().user())) {
            throw new SandboxException(new Failure.NotAllowed("that token is somebody else's"));
        }
        place = Optional.of(new Place(at.sandbox(), at.viewer(), token, at.needed()));
        send(Messages.authOk(at.viewer().shell(), at.viewer().who().role()));
    }

    private void show(Viewer viewer) {
        try {
            while (true) {
                ShellEvent event = viewer.next();
                if (event instanceof ShellEvent.Left) {
                    return;
                }
                send(Messages.of(event));
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

    private void complain(Failure failure) {
        send(Messages.error(failure));
    }

    /// Writes one message and waits until it is gone. Throws `CompletionException` when the socket is.
    private void send(String message) {
        var sent = new Callback.Completable();
        sending.lock();
        try {
            session.orElseThrow().sendText(message, sent);
            sent.join();
        } finally {
            sending.unlock();
        }
    }

    /// Looks whether the one inside may still be there; called now and then.
    void check() {
        place.ifPresent(at -> {
            try {
                sockets.admit(sandboxId, at.credential(), at.needed());
            } catch (SandboxException e) {
                Close why = Close.of(e.failure());
                // That a sandbox ended is told by its shell, with the reason.
                if (why.isRefusal()) {
                    close(why);
                }
            }
        });
    }

    /// Reports whether the client has not said anything yet.
    boolean isSilent() {
        return !spoken;
    }

    long openedAt() {
        return openedAt;
    }

    boolean isInside() {
        return place.isPresent();
    }

    /// When something last came from the client, by the nano clock.
    long heardAt() {
        return heardAt;
    }

    void ping() {
        session.filter(Session::isOpen).ifPresent(open -> open.sendPing(ByteBuffer.allocate(0), Callback.NOOP));
    }

    /// Says why and hangs up; does not wait for a client that does not listen. Idempotent.
    void close(Close why) {
        if (closing.compareAndSet(false, true)) {
            leave();
            session.ifPresent(open -> {
                open.close(why.code(), why.reason(), Callback.NOOP);
                sockets.hangUpSoon(open);
            });
        }
    }

    private void leave() {
        closing.set(true);
        sockets.remove(this);
        place.ifPresent(at -> {
            attribute(at);
            at.viewer().close();
        });
    }
}
