package dev.vivarium.cli.run;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;

/// The log of one sandbox, from a number on: what is kept, and then what comes. A connection that breaks and a server
/// that restarts cost time, never an event. Confined to one worker.
public final class Feed {
    private static final int PAGE = 1000;
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int ATTEMPTS = 120;

    private final Transport http;
    private final String path;
    private long after;

    /// @param type only events whose type is this, or begins with it if it ends in a dot; all of them if empty
    public Feed(Transport http, String sandbox, String type, long after) {
        this.http = http;
        this.path = Runs.path(sandbox) + "/events?" + (type.isEmpty() ? "" : "type=" + Transport.segment(type) + "&");
        this.after = after;
    }

    /// Gives what is kept to `reader`.
    public void read(Predicate<JsonFields> reader) {
        while (true) {
            JsonFields page = http.get(path + "limit=" + PAGE + "&after_seq=" + after, fields -> fields);
            for (JsonFields event : page.objects("events")) {
                if (!take(event, reader)) {
                    return;
                }
            }
            // A page of large ones is short without being the last.
            if (page.objects("events").isEmpty()) {
                return;
            }
        }
    }

    /// Gives what is kept and what comes to `reader` until it has had enough.
    public void follow(Predicate<JsonFields> reader) {
        int failures = 0;
        while (true) {
            long before = after;
            try {
                if (!stream(reader)) {
                    return;
                }
            } catch (SandboxException e) {
                failures = after > before ? 1 : failures + 1;
                if (!isPassing(e.failure()) || failures > ATTEMPTS) {
                    throw e;
                }
            } catch (IOException e) {
                failures = after > before ? 0 : failures + 1; // The server hung up, or is being restarted.
            }
            pause();
        }
    }

    /// A server that is being restarted refuses for a while before it cannot be reached.
    private static boolean isPassing(Failure failure) {
        return failure instanceof Failure.ServerUnreachable || failure instanceof Failure.ShuttingDown;
    }

    /// Reports whether the stream broke off before the reader had enough.
    private boolean stream(Predicate<JsonFields> reader) throws IOException {
        var headers = Map.of("Accept", "application/x-ndjson");
        try (var reply = http.send("GET", path + "after_seq=" + after, headers, Transport.Body.none())
                .requireSuccess()) {
            var lines = new BufferedReader(new InputStreamReader(reply.body(), StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonFields event = Json.answer(line);
                if (event.optionalInteger("seq").isPresent() && !take(event, reader)) {
                    return false;
                }
            }
            return true;
        }
    }

    private boolean take(JsonFields event, Predicate<JsonFields> reader) {
        after = event.integer("seq");
        return reader.test(event);
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }
}
