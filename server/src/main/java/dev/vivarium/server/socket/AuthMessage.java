package dev.vivarium.server.socket;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Command;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ShellId;
import dev.vivarium.server.http.Credential;
import java.util.Optional;

/// First message of a shell socket. Immutable.
///
/// Without `session_id`, the server starts a shell that runs `command`, or else `bash`. With `observe`, it attaches the
/// client to the newest shell instead. `window` limits the output that the client has not acknowledged.
record AuthMessage(
        Optional<ShellId> session, Optional<TerminalSize> size, Command command, Typing typing, Optional<Long> window) {
    /// Whether a client that may type wants to type.
    enum Typing {
        ON,
        OFF
    }

    @Override
    public String toString() {
        return "Auth[" + session + "]";
    }

    /// Returns the key or token in the message, or else the browser session of the upgrade request. Throws
    /// `NotAuthenticated` if the message is not an authentication.
    static Credential credential(JsonFields fields, Optional<Credential> session) {
        try {
            if (fields.string("type").equals("auth")) {
                return fields.optionalString("token")
                        .<Credential>map(Credential.Shown::new)
                        .or(() -> session)
                        .orElseGet(() -> new Credential.Shown(fields.string("token")));
            }
        } catch (SandboxException e) {
            throw refused(e.failure().sentence());
        }
        throw refused("the first message must be {\"type\":\"auth\",\"token\":…}");
    }

    static AuthMessage read(JsonFields fields) {
        var session = fields.optionalString("session_id").map(AuthMessage::session);
        var size = size(fields);
        var command = fields.optionalString("command").map(Command::shell).orElseGet(() -> Command.of("bash"));
        var directory = fields.optionalString("cwd").orElse("");
        var typing = fields.optionalFlag("observe").orElse(false) ? Typing.OFF : Typing.ON;
        var window = fields.optionalInteger("window");
        require(window.filter(characters -> characters < 1).isEmpty(), "window", "must be at least 1");
        fields.refuseOthers();
        return new AuthMessage(session, size, command.withDirectory(directory), typing, window);
    }

    static Optional<TerminalSize> size(JsonFields fields) {
        var columns = fields.optionalInteger("cols");
        var rows = fields.optionalInteger("rows");
        if (columns.isEmpty() && rows.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                new TerminalSize(side(columns, TerminalSize.USUAL.columns()), side(rows, TerminalSize.USUAL.rows())));
    }

    private static int side(Optional<Long> wanted, int usual) {
        return wanted.map(length -> (int) Math.clamp(length, 0, Integer.MAX_VALUE))
                .orElse(usual);
    }

    /// Parses the id of a shell.
    static ShellId session(String text) {
        if (!ShellId.isWellFormed(text)) {
            throw new SandboxException(
                    new CommandFailure.NoSuchShell("there is no shell of that name in this sandbox"));
        }
        return new ShellId(text);
    }

    private static SandboxException refused(String why) {
        return new SandboxException(new Failure.NotAuthenticated(why));
    }
}
