package dev.vivarium.server.socket;

import dev.vivarium.core.Undo;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.SandboxUse;
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
import dev.vivarium.server.api.SandboxResolver;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.telemetry.Telemetry;
import java.util.Arrays;
import java.util.Optional;

/// Session of a client in a shell, as typist or watcher. Thread-safe.
final class ShellSocket implements SocketSession {
    private final GuardedSocket socket;
    private final Telemetry telemetry;
    private final SandboxResolver resolver;
    private final Caller caller;
    private final Viewer viewer;
    private final SandboxUse use;
    private final OutputWindow window;
    private final TypedInputAudit typing = new TypedInputAudit();

    private ShellSocket(
            GuardedSocket socket,
            Telemetry telemetry,
            SandboxResolver resolver,
            Caller caller,
            Viewer viewer,
            SandboxUse use,
            OutputWindow window) {
        this.socket = socket;
        this.telemetry = telemetry;
        this.resolver = resolver;
        this.caller = caller;
        this.viewer = viewer;
        this.use = use;
        this.window = window;
    }

    static Opener opener(Telemetry telemetry, SandboxResolver resolver) {
        return (socket, caller, first) -> {
            AuthMessage auth = AuthMessage.read(first);
            Sandbox sandbox = caller.sandbox().orElseThrow();
            resolver.requireResumed(sandbox);
            boolean types =
                    auth.typing() == AuthMessage.Typing.ON && caller.scopes().allows(Scope.SHELL);
            Role role = types ? Role.TYPIST : Role.WATCHER;
            var user = caller.principal().orElseThrow().name();
            try (var undo = new Undo()) {
                Viewer viewer = undo.add(shell(sandbox, auth, role)
                        .join(new Participant(user, role, socket.audit().now())));
                auth.size().ifPresent(viewer::resize);
                String detail =
                        SocketMessages.role(role) + " in " + viewer.shell().id();
                socket.audit().did(caller, Kind.USED, detail);
                var use = undo.add(sandbox.use());
                undo.keep();
                var window = new OutputWindow(auth.window());
                return new ShellSocket(socket, telemetry, resolver, caller, viewer, use, window);
            }
        };
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
                        "there is no shell to watch; a user who may type has to open one")));
    }

    private boolean isTypist() {
        return viewer.who().role() == Role.TYPIST;
    }

    @Override
    public Scope needed() {
        return isTypist() ? Scope.SHELL : Scope.SHELL_RO;
    }

    @Override
    public Optional<Presence.Purpose> purpose() {
        return Optional.of(isTypist() ? Presence.Purpose.TYPE : Presence.Purpose.WATCH);
    }

    @Override
    public String authenticatedMessage() {
        return SocketMessages.authOk(viewer.shell(), viewer.who().role());
    }

    @Override
    public void receive(Caller sender, String type, JsonFields fields) {
        switch (type) {
            case "stdin" -> type(sender, fields.string("data"));
            case "resize" -> resize(fields);
            case "seen" -> window.acknowledge(fields.integer("characters"));
            case "signal" -> signal(sender, fields.string("name"));
            default -> throw SandboxException.invalid("type", "must be stdin, resize, seen, signal, ping or auth");
        }
    }

    private void type(Caller sender, String data) {
        viewer.requireTypist();
        resolver.requireResumed(sender.sandbox().orElseThrow());
        viewer.type(data);
        typing.add(data);
    }

    private void signal(Caller sender, String name) {
        var signal = Signal.find(name)
                .orElseThrow(
                        () -> SandboxException.invalid("name", "must be one of " + Arrays.toString(Signal.values())));
        viewer.signal(signal);
        socket.audit()
                .did(
                        sender,
                        Kind.TYPED,
                        "signal " + signal + " to " + viewer.shell().id());
    }

    private void resize(JsonFields fields) {
        fields.integer("cols");
        fields.integer("rows");
        AuthMessage.size(fields).ifPresent(viewer::resize);
    }

    @Override
    public void run() {
        while (true) {
            ShellEvent event = viewer.next();
            if (event instanceof ShellEvent.Left) {
                return;
            }
            socket.client().send(SocketMessages.of(event));
            switch (event) {
                case ShellEvent.Output(String text) -> window.sent(text);
                case ShellEvent.Exited _ -> socket.close(CloseReason.ended());
                case ShellEvent.Gone(Failure failure) -> socket.close(CloseReason.of(failure));
                case ShellEvent.Missed _, ShellEvent.Presence _, ShellEvent.Resized _, ShellEvent.Left _ -> {}
            }
        }
    }

    /// Records the number of typed characters that are due, never the characters.
    @Override
    public void tick() {
        recordInput(typing.takeDue());
    }

    private void recordInput(int characters) {
        if (characters > 0) {
            caller.sandbox().ifPresent(sandbox -> telemetry.typed(viewer, sandbox, characters));
            socket.audit()
                    .did(
                            caller,
                            Kind.TYPED,
                            characters + " characters in " + viewer.shell().id());
        }
    }

    @Override
    public void close() {
        recordInput(typing.takeAll());
        window.close();
        viewer.close();
        use.close();
    }
}
