package dev.vivarium.server.socket;

import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Command;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ShellId;
import dev.vivarium.server.http.Credential;
import java.util.Optional;

/// The first message of a socket: who comes, and to which shell. Immutable.
///
/// Without `session_id` a new shell is started, which runs `command` or else `bash`. With
/// `observe` the newest is watched instead. `window` is how much of its output is sent before the client says that it
/// has taken it.
record AuthMessage(
        Optional<ShellId> session, Optional<TerminalSize> size, Command command, Hands hands, Optional<Long> window) {
    /// Whether somebody who may type wants to.
    enum Hands {
        ON,
        OFF
    }

    @Override
    public String toString() {
        return "Auth[" + session + "]";
    }

    /// What is shown in it: a key or a token, or else nothing but the session that the browser showed when it made
    /// the connection. Throws `NotAuthenticated` when it is not such a message.
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
        var hands = fields.optionalFlag("observe").orElse(false) ? Hands.OFF : Hands.ON;
        var window = fields.optionalInteger("window");
        if (window.filter(characters -> characters < 1).isPresent()) {
            throw new SandboxException(new Failure.InvalidRequest("window", "must be at least 1"));
        }
        fields.refuseOthers();
        return new AuthMessage(session, size, command.withDirectory(directory), hands, window);
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

    /// The name of a shell as somebody wrote it.
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
