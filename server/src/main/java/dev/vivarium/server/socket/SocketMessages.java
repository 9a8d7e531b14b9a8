package dev.vivarium.server.socket;

import dev.vivarium.core.shell.Participant;
import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.ShellEvent;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.json.Json;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Messages from the server to the client of a shell socket: JSON objects with a `type`. Stateless.
final class SocketMessages {
    private SocketMessages() {}

    static String authOk(Shell shell, Participant.Role role) {
        return message("auth_ok", out -> {
            out.writeStringProperty("session_id", shell.id().value());
            out.writeStringProperty("role", role(role));
            writeSize(out, shell.size());
        });
    }

    static void writeSize(JsonGenerator out, TerminalSize size) {
        out.writeNumberProperty("cols", size.columns());
        out.writeNumberProperty("rows", size.rows());
    }

    static String error(Failure failure) {
        return message("error", out -> {
            out.writeStringProperty("code", failure.slug());
            out.writeStringProperty("message", failure.sentence());
        });
    }

    /// Returns the message for an event of a shell. [ShellEvent.Left] has no message.
    static String of(ShellEvent event) {
        return switch (event) {
            case ShellEvent.Output(String text) -> message("stdout", out -> out.writeStringProperty("data", text));
            case ShellEvent.Missed(long bytes) -> message("missed", out -> out.writeNumberProperty("bytes", bytes));
            case ShellEvent.Presence(List<Participant> people) ->
                message("presence", out -> ShellsHandler.PEOPLE.writeFields(out, people));
            case ShellEvent.Resized(TerminalSize size) -> message("size", out -> writeSize(out, size));
            case ShellEvent.Exited(Exit exit) ->
                message("exit", out -> {
                    out.writeNumberProperty("code", exit.exitCode());
                    out.writeStringProperty("cause", exit.cause().text());
                });
            case ShellEvent.Gone(Failure failure) -> error(failure);
            case ShellEvent.Left _ -> throw new IllegalArgumentException("a participant who left gets no messages");
        };
    }

    static String role(Participant.Role role) {
        return role.name().toLowerCase(Locale.ROOT);
    }

    static String message(String type, Consumer<JsonGenerator> fields) {
        byte[] bytes = Json.bytes(out -> {
            out.writeStringProperty("type", type);
            fields.accept(out);
        });
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
