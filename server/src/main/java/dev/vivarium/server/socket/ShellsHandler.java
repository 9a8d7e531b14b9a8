package dev.vivarium.server.socket;

import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.json.Json;
import dev.vivarium.model.Command;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import tools.jackson.core.JsonGenerator;

/// Which shells a sandbox has and who is in them, and a way to start one without a socket: an agent starts its long
/// command, and people watch it.
public final class ShellsHandler {
    private final Callers callers;

    public ShellsHandler(Callers callers) {
        this.callers = callers;
    }

    /// `GET /sandboxes/{sandbox_id}/shells`.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var shells = exchange.sandbox().shells().list();
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("shells");
            for (Shell shell : shells) {
                out.writeStartObject();
                write(out, shell);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    /// `POST /sandboxes/{sandbox_id}/shells`.
    public void open(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        var command = fields.optionalString("command").map(Command::shell).orElseGet(() -> Command.of("bash"));
        var directory = fields.optionalString("cwd").orElse("");
        var size = AuthMessage.size(fields).orElse(TerminalSize.USUAL);
        fields.refuseOthers();
        var sandbox = exchange.sandbox();
        callers.requireAwake(sandbox);
        var shell = sandbox.shell(command.withDirectory(directory), size);
        exchange.answer(201, out -> write(out, shell));
    }

    /// `DELETE /sandboxes/{sandbox_id}/shells/{session_id}`: kills what runs there. Those who are in it see its
    /// end.
    public void end(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var shell = exchange.sandbox().shells().require(AuthMessage.session(exchange.path("session_id")));
        callers.requireAwake(exchange.sandbox());
        shell.kill();
        exchange.answer(204);
    }

    private static void write(JsonGenerator out, Shell shell) {
        out.writeStringProperty("session_id", shell.id().value());
        shell.command().ifPresent(command -> out.writeStringProperty("command", command));
        Json.time(out, "started_at", shell.started());
        SocketMessages.writeSize(out, shell.size());
        out.writeBooleanProperty("running", shell.isOpen());
        shell.exit().ifPresent(exit -> out.writeNumberProperty("exit_code", exit.exitCode()));
        SocketMessages.writePeople(out, shell.people());
    }
}
