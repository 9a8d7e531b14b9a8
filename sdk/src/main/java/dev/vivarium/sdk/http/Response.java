package dev.vivarium.sdk.http;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Response of a server whose body is streamed. Confined to one thread.
public final class Response implements AutoCloseable {
    private static final int FIRST_FAILURE = 400;

    private final URI server;
    private final RawResponse received;
    private @Nullable Answer answer;

    Response(URI server, RawResponse received) {
        this.server = server;
        this.received = received;
    }

    public int status() {
        return received.status();
    }

    public Optional<String> header(String name) {
        return received.header(name);
    }

    /// The `Date` header, in milliseconds since 1970.
    public Optional<Long> date() {
        return header("Date").flatMap(Response::millis);
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

    /// Throws the failure that this response carries, if any.
    public Response requireSuccess() {
        if (status() >= FIRST_FAILURE) {
            answer().requireSuccess();
        }
        return this;
    }

    /// Decodes the body of a success; throws the failure otherwise.
    public <T> T read(Function<JsonFields, T> codec) {
        return answer().read(codec);
    }

    /// Decodes the body for any status.
    public <T> T decode(Function<JsonFields, T> codec) {
        return answer().decode(codec);
    }

    /// The body as a stream. Closing it before its end closes the connection.
    public InputStream body() {
        try {
            return received.body();
        } catch (IOException e) {
            throw Transport.failure(server, e);
        }
    }

    /// The failure that this response carries, if any. Buffers the body, so repeated calls return the same.
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
            throw Transport.failure(server, e);
        }
    }

    /// Discards the rest of the body. The JDK reuses the connection if the rest is short and closes it otherwise.
    @Override
    public void close() {
        try {
            body().close();
        } catch (IOException | SandboxException _) {
            received.disconnect();
        }
    }
}
