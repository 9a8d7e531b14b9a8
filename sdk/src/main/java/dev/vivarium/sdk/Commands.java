package dev.vivarium.sdk;

import dev.vivarium.sdk.http.Transport;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.InputStream;
import java.util.Map;

/// Commands in one sandbox. Thread-safe.
public final class Commands {
    private final SandboxConnection connection;

    Commands(SandboxConnection connection) {
        this.connection = connection;
    }

    /// Starts a command. The caller closes the stream; closing it early ends the command.
    public CommandStream start(NewCommand command) {
        var response = connection.send(
                "POST", "/exec", Map.of("Accept", "application/x-ndjson"), () -> Body.json(command::write));
        return new CommandStream(connection.token().http(), response.requireSuccess());
    }

    /// Sends bytes to the standard input of a process as they arrive, then the end of input. Returns at the end of
    /// `bytes`.
    public void writeInput(String process, InputStream bytes) {
        String path = "/processes/" + Transport.segment(process) + "/stdin?eof=true";
        connection.send("POST", path, Map.of(), () -> Body.of(bytes, -1)).close();
    }
}
