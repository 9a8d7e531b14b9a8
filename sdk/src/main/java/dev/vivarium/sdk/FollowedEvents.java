package dev.vivarium.sdk;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Live event log over one streaming response after another. Confined to one thread.
final class FollowedEvents implements EventStream {
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int ATTEMPTS = 120;

    private final Transport transport;
    private final String path;
    private long after;
    private int failures;
    private @Nullable BufferedReader lines;
    private @Nullable Response response;
    private boolean closed;

    FollowedEvents(Transport transport, String path, long after) {
        this.transport = transport;
        this.path = path;
        this.after = after;
    }

    @Override
    public boolean hasNext() {
        return !closed;
    }

    @Override
    public SandboxEvent next() {
        while (!closed) {
            Optional<SandboxEvent> event = attempt();
            if (event.isPresent()) {
                after = event.get().seq();
                failures = 0;
                return event.get();
            }
            disconnect();
            pause();
        }
        throw new NoSuchElementException();
    }

    /// The next event, or nothing if the connection ended.
    private Optional<SandboxEvent> attempt() {
        try {
            return read(connected());
        } catch (SandboxException e) {
            failures++;
            if (!isTransient(e.failure()) || failures > ATTEMPTS) {
                throw e;
            }
        } catch (IOException _) {
            failures++;
        }
        return Optional.empty();
    }

    private BufferedReader connected() {
        BufferedReader open = lines;
        if (open == null) {
            var headers = Map.of("Accept", "application/x-ndjson");
            Response opened = transport
                    .send("GET", path + "after_seq=" + after, headers, Transport.Body.none())
                    .requireSuccess();
            response = opened;
            open = new BufferedReader(new InputStreamReader(opened.body(), StandardCharsets.UTF_8));
            lines = open;
        }
        return open;
    }

    /// Lines without a number keep the connection alive.
    private static Optional<SandboxEvent> read(BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonFields fields = Json.answer(line);
            if (fields.optionalInteger("seq").isPresent()) {
                return Optional.of(SandboxEvent.read(fields));
            }
        }
        return Optional.empty();
    }

    /// A server that shuts down refuses calls for a while before it cannot be reached.
    private static boolean isTransient(Failure failure) {
        return failure instanceof Failure.ServerUnreachable || failure instanceof Failure.ShuttingDown;
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    private void disconnect() {
        Response open = response;
        response = null;
        lines = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        closed = true;
        disconnect();
    }
}
