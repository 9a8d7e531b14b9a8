package dev.vivarium.cli.remote;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// What a server said: a status, headers, and a body that is read as it comes. Confined to the worker that reads it.
public final class Reply implements AutoCloseable {
    private static final int FIRST_FAILURE = 400;

    private final URI server;
    private final Received received;
    private @Nullable Answer answer;

    Reply(URI server, Received received) {
        this.server = server;
        this.received = received;
    }

    public int status() {
        return received.status();
    }

    public Optional<String> header(String name) {
        return received.header(name);
    }

    /// The server's own time, in milliseconds since 1970, if it tells.
    public Optional<Long> date() {
        return header("Date").flatMap(Reply::millis);
    }

    private static Optional<Long> millis(String date) {
        try {
            return Optional.of(ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant()
                    .toEpochMilli());
        } catch (DateTimeParseException _) {
            return Optional.empty();
        }
    }

    /// Throws the failure that this reply carries, if it is one.
    public Reply requireSuccess() {
        if (status() >= FIRST_FAILURE) {
            answer().requireSuccess();
        }
        return this;
    }

    /// The body of a success; anything else is thrown.
    public <T> T read(Function<JsonFields, T> codec) {
        return answer().read(codec);
    }

    /// The body, whatever the status.
    public <T> T decode(Function<JsonFields, T> codec) {
        return answer().decode(codec);
    }

    /// The body as it comes. Closing it before its end hangs up.
    public InputStream body() {
        try {
            return received.body();
        } catch (IOException e) {
            throw Http.failure(server, e);
        }
    }

    /// The failure that this reply carries, if it is one. It can be asked for again: the body is kept.
    public Optional<Failure> problem() {
        try {
            requireSuccess();
            return Optional.empty();
        } catch (SandboxException e) {
            return Optional.of(e.failure());
        }
    }

    private Answer answer() {
        if (answer == null) {
            answer = receive();
        }
        return answer;
    }

    private Answer receive() {
        try (InputStream bytes = body()) {
            String type = header("Content-Type").orElse("");
            return new Answer(server, status(), type, bytes.readAllBytes());
        } catch (IOException e) {
            throw Http.failure(server, e);
        }
    }

    /// Lets go of what is still to come: the connection is used again if that is little, and hung up on otherwise.
    @Override
    public void close() {
        try {
            body().close();
        } catch (IOException | SandboxException _) {
            received.hangUp();
        }
    }
}
