package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
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

/// Events on their way to a client, each sent at once. Thread-safe: the lock is held while sending, which is what keeps
/// the events of two workers apart.
final class EventStream implements AutoCloseable {
    private final Format format;
    private final OutputStream out;
    private final ReentrantLock sending = new ReentrantLock();
    private volatile long said = System.nanoTime();

    private EventStream(Format format, OutputStream out) {
        this.format = format;
        this.out = out;
    }

    /// How events are written.
    enum Format {
        EVENT_STREAM("text/event-stream"),
        NDJSON("application/x-ndjson");

        private final String mediaType;

        Format(String mediaType) {
            this.mediaType = mediaType;
        }

        /// The format that the caller asked for, if any.
        static Optional<Format> accepted(Exchange exchange) {
            for (Format format : values()) {
                if (exchange.accepts(format.mediaType)) {
                    return Optional.of(format);
                }
            }
            return Optional.empty();
        }
    }

    /// Spends the status: from here on a failure can only be an event.
    static EventStream begin(Exchange exchange, Format format) {
        exchange.answerHeader("X-Accel-Buffering", "no");
        return new EventStream(format, exchange.stream(200, format.mediaType, OptionalLong.empty()));
    }

    void send(String name, Consumer<JsonGenerator> fields) throws IOException {
        sendAfter("event: " + name + "\ndata: ", fields);
    }

    /// The same with a number by which the client can come back.
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
            said = System.nanoTime();
        } finally {
            sending.unlock();
        }
    }

    /// The last event of one that cannot go on: why.
    void fail(Failure failure) throws IOException {
        send("error", json -> ExecJson.failed(json, failure));
    }

    /// Answers before there is anything to say, so that the caller knows that the stream stands.
    void stand() throws IOException {
        sending.lock();
        try {
            out.flush();
        } finally {
            sending.unlock();
        }
    }

    /// Sends a sign of life if nothing was sent for so long.
    void breatheAfter(Duration silence) throws IOException {
        if (System.nanoTime() - said >= silence.toNanos()) {
            breathe();
        }
    }

    /// Sends a sign of life, unless something else is being sent. A hang-up is noticed by writing only.
    void breathe() throws IOException {
        if (sending.tryLock()) {
            try {
                out.write(breath());
                out.flush();
                said = System.nanoTime();
            } finally {
                sending.unlock();
            }
        }
    }

    private byte[] breath() {
        return switch (format) {
            case EVENT_STREAM -> ": keep-alive\n\n".getBytes(StandardCharsets.UTF_8);
            case NDJSON ->
                (new String(Json.bytes(ExecJson::keepAlive), StandardCharsets.UTF_8) + "\n")
                        .getBytes(StandardCharsets.UTF_8);
        };
    }

    /// Ends the answer.
    @Override
    public void close() throws IOException {
        out.close();
    }
}
