package dev.vivarium.sdk.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Response of a server. Its body is streamed, or buffered by the first method that decodes it. Confined to one thread.
public final class Response implements AutoCloseable {
    private static final int LAST_SUCCESS = 299;

    private final URI server;
    private final RawResponse received;
    private byte @Nullable [] content;

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

    /// Reports whether the body describes a failure.
    boolean isProblem() {
        return header("Content-Type").orElse("").startsWith(ProblemJson.CONTENT_TYPE);
    }

    /// The failure that this response carries, if any. If a proxy wrote the body, only the status is reliable.
    public Optional<Failure> problem() {
        if (status() <= LAST_SUCCESS && !isProblem()) {
            return Optional.empty();
        }
        byte[] bytes = content();
        try {
            return Optional.of(ProblemJson.read(fields(bytes)));
        } catch (SandboxException _) {
            return Optional.of(ProblemJson.unrecognized(
                    "http-" + status(), status(), server + " answered with HTTP status " + status()));
        }
    }

    /// Throws the failure that this response carries, if any.
    public Response requireSuccess() {
        problem().ifPresent(failure -> {
            throw new SandboxException(failure);
        });
        return this;
    }

    /// Decodes the body of a success; throws the failure otherwise.
    public <T> T read(Function<JsonFields, T> codec) {
        return requireSuccess().decode(codec);
    }

    /// Decodes the body for any status.
    public <T> T decode(Function<JsonFields, T> codec) {
        byte[] bytes = content();
        try {
            return codec.apply(fields(bytes));
        } catch (SandboxException e) {
            throw new SandboxException(
                    ProblemJson.unrecognized(
                            "bad-answer",
                            status(),
                            server + " did not send a valid response of this API; check the address and the versions"),
                    e);
        }
    }

    private static JsonFields fields(byte[] bytes) {
        return Json.answer(new ByteArrayInputStream(bytes));
    }

    /// Returns the whole body. Repeated calls return the same.
    private byte[] content() {
        if (content == null) {
            try (InputStream bytes = body()) {
                content = bytes.readAllBytes();
            } catch (IOException e) {
                throw failed(e);
            }
        }
        return content;
    }

    /// The body as a stream. Closing it before its end closes the connection.
    public InputStream body() {
        try {
            return received.body();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /// Returns the exception for a failed read of the body.
    RuntimeException failed(IOException e) {
        return Transport.failure(server, e);
    }

    SandboxException unreachable(String why) {
        return new SandboxException(new Failure.ServerUnreachable(server.toString(), why));
    }

    /// Discards the rest of the body. The JDK reuses the connection if the rest is short and closes it otherwise.
    /// Any thread may close a response of [HttpClientSender].
    @Override
    public void close() {
        try {
            body().close();
        } catch (IOException | SandboxException _) {
            received.disconnect();
        }
    }
}
