package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Stream of events to a client. Each event is sent at once. Thread-safe: a lock prevents that events of two threads
/// mix.
final class EventStream implements AutoCloseable {
    private final Format format;
    private final OutputStream out;
    private final ReentrantLock sending = new ReentrantLock();
    private volatile long lastSent = System.nanoTime();

    private EventStream(Format format, OutputStream out) {
        this.format = format;
        this.out = out;
    }

    enum Format {
        EVENT_STREAM("text/event-stream"),
        NDJSON("application/x-ndjson");

        private final String mediaType;

        Format(String mediaType) {
            this.mediaType = mediaType;
        }

        /// Returns the format that the client accepts, if it accepts one.
        static Optional<Format> accepted(Exchange exchange) {
            for (Format format : values()) {
                if (exchange.accepts(format.mediaType)) {
                    return Optional.of(format);
                }
            }
            return Optional.empty();
        }
    }

    /// Writes the events of a stream until it ends, fails or is interrupted.
    interface Writer {
        void write(EventStream stream) throws IOException, InterruptedException;
    }

    /// Sends the events that `writer` writes. A failure is the last event.
    static void send(Exchange exchange, Format format, Writer writer) throws IOException {
        try (var stream = begin(exchange, format)) {
            stream.sendHeaders();
            try {
                writer.write(stream);
            } catch (SandboxException e) {
                stream.fail(e.failure());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Sends the status. A later failure can only be an event.
    static EventStream begin(Exchange exchange, Format format) {
        exchange.answerHeader("X-Accel-Buffering", "no");
        return new EventStream(format, exchange.stream(200, format.mediaType, OptionalLong.empty()));
    }

    void send(String name, Consumer<JsonGenerator> fields) throws IOException {
        sendAfter("event: " + name + "\ndata: ", fields);
    }

    /// Sends an event with an id, from which the client can resume.
    void send(String name, String id, Consumer<JsonGenerator> fields) throws IOException {
        sendAfter("id: " + id + "\nevent: " + name + "\ndata: ", fields);
    }

    private void sendAfter(String head, Consumer<JsonGenerator> fields) throws IOException {
        var line = new ByteArrayOutputStream();
        if (format == Format.EVENT_STREAM) {
            line.writeBytes(head.getBytes(StandardCharsets.UTF_8));
        }
        Json.write(line, fields);
        line.writeBytes((format == Format.EVENT_STREAM ? "\n\n" : "\n").getBytes(StandardCharsets.UTF_8));
        sending.lock();
        try {
            line.writeTo(out);
            out.flush();
            lastSent = System.nanoTime();
        } finally {
            sending.unlock();
        }
    }

    /// Sends the failure as the last event.
    void fail(Failure failure) throws IOException {
        send("error", json -> ExecJson.failed(json, failure));
    }

    /// Sends the headers before the first event, so that the client detects that the stream is open.
    void sendHeaders() throws IOException {
        sending.lock();
        try {
            out.flush();
        } finally {
            sending.unlock();
        }
    }

    /// Sends a keep-alive if nothing was sent for `silence`.
    void keepAliveAfter(Duration silence) throws IOException {
        if (System.nanoTime() - lastSent >= silence.toNanos()) {
            keepAlive();
        }
    }

    /// Sends a keep-alive, unless another thread is sending. The server detects a closed connection only when it
    /// writes.
    void keepAlive() throws IOException {
        if (sending.tryLock()) {
            try {
                out.write(keepAliveBytes());
                out.flush();
                lastSent = System.nanoTime();
            } finally {
                sending.unlock();
            }
        }
    }

    private byte[] keepAliveBytes() {
        return switch (format) {
            case EVENT_STREAM -> ": keep-alive\n\n".getBytes(StandardCharsets.UTF_8);
            case NDJSON ->
                (new String(Json.bytes(ExecJson::keepAlive), StandardCharsets.UTF_8) + "\n")
                        .getBytes(StandardCharsets.UTF_8);
        };
    }

    /// Completes the response.
    @Override
    public void close() throws IOException {
        out.close();
    }
}
