package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.shell.Participant;
import dev.vivarium.core.shell.Participant.Role;
import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.ShellEvent;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Presence;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One socket to a shell. One worker writes what the shell shows, one message after another; what else there is to say
/// waits its turn in [SocketClient#send]. Thread-safe.
public final class ShellSocket extends GuardedSocket {
    private static final Logger LOG = LoggerFactory.getLogger(ShellSocket.class);

    private final Callers callers;
    private final ShellAudit witness;
    private final TypedInputAudit typing = new TypedInputAudit();
    private final AtomicBoolean shown = new AtomicBoolean();
    private volatile Optional<Place> place = Optional.empty();

    /// Who is in which shell, and how much of it they take at once.
    private record Place(Caller caller, Viewer viewer, OutputWindow window) {}

    public ShellSocket(Sockets sockets, ShellAudit witness, Callers callers, String sandboxId) {
        super(sockets, witness.controlPort(), sandboxId);
        this.callers = callers;
        this.witness = witness;
    }

    @Override
    Optional<Presence.Way> way() {
        return place.map(at -> at.viewer().who().role() == Role.TYPIST ? Presence.Way.TYPE : Presence.Way.WATCH);
    }

    @Override
    Scope previewAccess() {
        return Scope.SHELL_RO;
    }

    @Override
    Scope settle(Caller caller, JsonFields first) {
        AuthMessage auth = AuthMessage.read(first);
        boolean types = auth.hands() == AuthMessage.Hands.ON && caller.scopes().allows(Scope.SHELL);
        Role role = types ? Role.TYPIST : Role.WATCHER;
        Sandbox sandbox = caller.sandbox().orElseThrow();
        callers.requireAwake(sandbox);
        Shell shell = shell(sandbox, auth, role);
        var user = caller.principal().orElseThrow().name();
        Viewer viewer = shell.join(new Participant(user, role, controlPort().now()));
        place = Optional.of(new Place(caller, viewer, new OutputWindow(auth.window())));
        auth.size().ifPresent(viewer::resize);
        witness.entered(caller, viewer);
        return role == Role.TYPIST ? Scope.SHELL : Scope.SHELL_RO;
    }

    private static Shell shell(Sandbox sandbox, AuthMessage auth, Role role) {
        if (auth.session().isPresent()) {
            return sandbox.shells().require(auth.session().get());
        }
        if (role == Role.TYPIST) {
            return sandbox.shell(auth.command(), auth.size().orElse(TerminalSize.USUAL));
        }
        return sandbox.shells()
                .newest()
                .orElseThrow(() -> new SandboxException(new CommandFailure.NoSuchShell(
                        "there is no shell to watch; somebody who may type has to open one")));
    }

    @Override
    void greet() {
        place.ifPresent(at -> {
            Viewer viewer = at.viewer();
            peer().send(SocketMessages.authOk(viewer.shell(), viewer.who().role()));
            if (shown.compareAndSet(false, true)) {
                Thread.ofVirtual().name("shell-out-" + viewer.shell().id()).start(() -> show(viewer, at.window()));
            }
        });
    }

    @Override
    void obey(Caller caller, String type, JsonFields fields) {
        Viewer viewer = place.orElseThrow().viewer();
        switch (type) {
            case "stdin" -> type(caller, viewer, fields.string("data"));
            case "resize" -> resize(viewer, fields);
            case "seen" -> place.orElseThrow().window().seen(fields.integer("characters"));
            case "signal" -> signal(caller, viewer, fields.string("name"));
            default ->
                throw new SandboxException(
                        new Failure.InvalidRequest("type", "must be stdin, resize, seen, signal, ping or auth"));
        }
    }

    private void type(Caller caller, Viewer viewer, String data) {
        viewer.requireTypist();
        callers.requireAwake(caller.sandbox().orElseThrow());
        viewer.type(data);
        typing.add(data);
    }

    private void signal(Caller caller, Viewer viewer, String name) {
        var signal = Signal.find(name)
                .orElseThrow(() -> new SandboxException(
                        new Failure.InvalidRequest("name", "must be one of " + Arrays.toString(Signal.values()))));
        viewer.signal(signal);
        witness.signalled(caller, viewer, signal);
    }

    private static void resize(Viewer viewer, JsonFields fields) {
        fields.integer("cols");
        fields.integer("rows");
        AuthMessage.size(fields).ifPresent(viewer::resize);
    }

    private void show(Viewer viewer, OutputWindow window) {
        try {
            while (true) {
                ShellEvent event = viewer.next();
                if (event instanceof ShellEvent.Left) {
                    return;
                }
                peer().send(SocketMessages.of(event));
                switch (event) {
                    case ShellEvent.Output(String text) -> window.sent(text);
                    case ShellEvent.Exited _ -> close(CloseReason.ended());
                    case ShellEvent.Gone(Failure failure) -> close(CloseReason.of(failure));
                    case ShellEvent.Missed _, ShellEvent.Presence _, ShellEvent.Resized _, ShellEvent.Left _ -> {}
                }
            }
        } catch (CompletionException e) {
            LOG.debug("a viewer of a shell has gone", e);
            leave();
        }
    }

    /// Puts on record what was typed.
    @Override
    void scheduler(Caller caller) {
        place.ifPresent(at -> attribute(at, typing.takeDue()));
    }

    private void attribute(Place at, int characters) {
        if (characters > 0) {
            witness.typed(at.caller(), at.viewer(), characters);
        }
    }

    @Override
    void vacate() {
        place.ifPresent(at -> {
            attribute(at, typing.takeAll());
            at.window().close();
            at.viewer().close();
        });
    }
}
