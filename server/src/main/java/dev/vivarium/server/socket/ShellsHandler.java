package dev.vivarium.server.socket;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.shell.Participant;
import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Command;
import dev.vivarium.model.Exit;
import dev.vivarium.server.api.SandboxResolver;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/// `/sandboxes/{sandbox_id}/shells`: lists, starts and ends shells without a socket. An agent starts a long command in
/// a shell, and people watch it. Thread-safe.
public final class ShellsHandler {
    private static final ObjectType<Participant> PARTICIPANT = object(
            "ShellParticipant",
            field("user_id", USER_ID, Participant::user),
            field("role", JsonType.constants(Participant.Role.class), Participant::role),
            field("since", TIME, Participant::since));

    /// The participants of a shell.
    static final ObjectType<List<Participant>> PEOPLE =
            object("", field("people", JsonType.list(PARTICIPANT), Function.identity()));

    private static final ObjectType<Shell> SHELL = object(
                    "Shell",
                    field("session_id", STRING, shell -> shell.id().value()),
                    optional("command", STRING, "Unknown after a restart of the server.", Shell::command),
                    field("started_at", TIME, Shell::started),
                    field("cols", INT, shell -> shell.size().columns()),
                    field("rows", INT, shell -> shell.size().rows()),
                    field("running", BOOLEAN, Shell::isOpen),
                    optional("exit_code", INT, shell -> shell.exit().map(Exit::exitCode)))
            .and("Shell", PEOPLE.over(Shell::people));
    private static final ObjectType<List<Shell>> SHELLS =
            object("Shells", field("shells", JsonType.list(SHELL), Function.identity()));
    private static final ObjectType<NewShell> NEW_SHELL = ObjectType.<NewShell>object(
                    "OpenShell",
                    optional("command", STRING, "A line for `bash -c`. Default: an interactive `bash`."),
                    optional("cwd", STRING),
                    optional("cols", INT),
                    optional("rows", INT))
            .readBy(NewShell::read)
            .closed();

    private record NewShell(Command command, TerminalSize size) {
        static NewShell read(JsonFields fields) {
            var command = fields.optionalString("command").map(Command::shell).orElseGet(() -> Command.of("bash"));
            var directory = fields.optionalString("cwd").orElse("");
            return new NewShell(
                    command.withDirectory(directory), AuthMessage.size(fields).orElse(TerminalSize.USUAL));
        }
    }

    public static final RouteDescription LIST = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/shells", scoped(Scope.SHELL_RO))
            .named("listShells", "List the shells of a sandbox and their connections")
            .answers(200, "Oldest first, including some that have exited.", SHELLS);

    public static final RouteDescription OPEN_SHELL = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/shells", scoped(Scope.SHELL))
            .named("openShell", "Start a shell without a connection")
            .text("For a long command that people may watch.")
            .takes(NEW_SHELL)
            .answers(201, "The shell runs.", SHELL)
            .fails(400, "A field is invalid, or the program cannot be started.")
            .fails(409, "The sandbox is not running.")
            .fails(429, "The sandbox runs its maximum number of commands.");

    public static final RouteDescription END = RouteDescription.delete(
                    "/sandboxes/{sandbox_id}/shells/{session_id}", scoped(Scope.SHELL))
            .named("endShell", "End a shell")
            .text("Kills the program of the shell and all its descendants.")
            .answers(204, "The shell is ending.")
            .fails(400, "A field is invalid, or the program cannot be started.")
            .fails(409, "The sandbox is not running.");

    private final SandboxResolver resolver;

    public ShellsHandler(SandboxResolver resolver) {
        this.resolver = resolver;
    }

    /// `GET /sandboxes/{sandbox_id}/shells`.
    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, SHELLS, exchange.sandbox().shells().list());
    }

    /// `POST /sandboxes/{sandbox_id}/shells`.
    public void open(Exchange exchange) throws IOException {
        var request = exchange.json(NEW_SHELL);
        var sandbox = exchange.sandbox();
        resolver.requireResumed(sandbox);
        var shell = sandbox.shell(request.command(), request.size());
        exchange.answer(201, SHELL, shell);
    }

    /// `DELETE /sandboxes/{sandbox_id}/shells/{session_id}`: kills the program. Its viewers receive the
    /// exit.
    public void end(Exchange exchange) throws IOException {
        var shell = exchange.sandbox().shells().require(AuthMessage.session(exchange.path("session_id")));
        resolver.requireResumed(exchange.sandbox());
        shell.kill();
        exchange.answer(204);
    }
}
