package dev.vivarium.sdk;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;

/// Events of a running command; the last is `Exited`. `next` waits for the server. Confined to one thread.
public final class CommandStream implements Iterator<ExecEvent>, AutoCloseable {
    private final URI server;
    private final Response response;
    private final BufferedReader lines;
    private Optional<String> process = Optional.empty();
    private String json = "";
    private boolean finished;

    CommandStream(URI server, Response response) {
        this.server = server;
        this.response = response;
        this.lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    /// The id of the process, once it started.
    public Optional<String> process() {
        return process;
    }

    /// The last event as the server sent it, a JSON object.
    public String json() {
        return json;
    }

    @Override
    public boolean hasNext() {
        return !finished;
    }

    @Override
    public ExecEvent next() {
        if (finished) {
            throw new NoSuchElementException();
        }
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonFields fields = Json.answer(line);
                process = fields.optionalString("process_id").or(() -> process);
                Optional<ExecEvent> event = ExecJson.readEvent(fields);
                if (event.isPresent()) {
                    json = line;
                    finished = event.get().isLast();
                    return event.get();
                }
            }
            throw new IOException("the stream ended before the command");
        } catch (IOException e) {
            throw new SandboxException(
                    new Failure.ServerUnreachable(server.toString(), "the connection broke (" + e.getMessage() + ")"),
                    e);
        }
    }

    /// Closes the connection, which ends a command that still runs. Idempotent.
    @Override
    public void close() {
        response.close();
    }
}
