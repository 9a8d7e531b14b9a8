package dev.vivarium.server.api;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.Target;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// A command's events on their way to a client. Output is pulled one piece at a time and sent before the next is
/// asked for, so that a slow client slows the command and fills no queue.
///
/// A hang-up is noticed by writing. A silent command gives nothing to write, so that a second worker sends a
/// keep-alive now and then; when that fails, it ends the command. The lock is held while sending: it is what keeps the
/// two workers' events apart, and the keep-alive never waits for it.
final class ExecStream implements AutoCloseable {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    private static final int KILL = 9;

    private final Format format;
    private final OutputStream out;
    private final Execution execution;
    private final Map<ExecEvent.Stream, Utf8Decoder> decoders = new EnumMap<>(ExecEvent.Stream.class);
    private final ReentrantLock sending = new ReentrantLock();
    private final Thread keeper;

    private ExecStream(Format format, OutputStream out, Execution execution) {
        this.format = format;
        this.out = out;
        this.execution = execution;
        for (var stream : ExecEvent.Stream.values()) {
            decoders.put(stream, new Utf8Decoder());
        }
        this.keeper = Thread.ofVirtual().name("keep-alive-" + execution.pid()).unstarted(this::keepAlive);
    }

    /// How events are written.
    enum Format {
        EVENT_STREAM("text/event-stream"),
        NDJSON("application/x-ndjson");

        private final String mediaType;

        Format(String mediaType) {
            this.mediaType = mediaType;
        }

        /// The format that the caller asked for; a caller who named none wants the result alone.
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
    static ExecStream begin(Exchange exchange, Format format, Execution execution) {
        exchange.answerHeader("X-Accel-Buffering", "no");
        var out = exchange.stream(200, format.mediaType, OptionalLong.empty());
        var stream = new ExecStream(format, out, execution);
        stream.keeper.start();
        return stream;
    }

    /// Sends everything up to the exit, or up to the failure by which the command was lost.
    void run(Ending ending) throws IOException {
        try {
            ExecEvent event;
            do {
                event = execution.next();
                if (event instanceof ExecEvent.Exited(Exit exit)) {
                    ending.exited(exit);
                }
                send(event);
            } while (!event.isLast());
        } catch (SandboxException e) {
            ending.failed(e.failure());
            send("error", json -> ExecJson.failed(json, e.failure()));
        }
    }

    /// Hears how the command ended, before the client does.
    interface Ending {
        void exited(Exit exit);

        void failed(Failure failure);
    }

    private void send(ExecEvent event) throws IOException {
        switch (event) {
            case ExecEvent.Started(int pid) -> send("started", json -> ExecJson.started(json, pid));
            case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) ->
                output(stream, decoder(stream).decode(bytes));
            case ExecEvent.Exited(Exit exit) -> {
                for (var stream : ExecEvent.Stream.values()) {
                    output(stream, decoder(stream).end());
                }
                send("exit", json -> ExecJson.exited(json, exit, false));
            }
        }
    }

    private void output(ExecEvent.Stream stream, String text) throws IOException {
        if (!text.isEmpty()) {
            send(ExecJson.label(stream), json -> ExecJson.output(json, stream, text));
        }
    }

    private Utf8Decoder decoder(ExecEvent.Stream stream) {
        return java.util.Objects.requireNonNull(decoders.get(stream));
    }

    private void send(String name, Consumer<JsonGenerator> fields) throws IOException {
        var line = new ByteArrayOutputStream();
        if (format == Format.EVENT_STREAM) {
            line.writeBytes(("event: " + name + "\ndata: ").getBytes(StandardCharsets.UTF_8));
        }
        Json.write(line, fields);
        line.writeBytes((format == Format.EVENT_STREAM ? "\n\n" : "\n").getBytes(StandardCharsets.UTF_8));
        sending.lock();
        try {
            line.writeTo(out);
            out.flush();
        } finally {
            sending.unlock();
        }
    }

    private void keepAlive() {
        try {
            while (true) {
                Thread.sleep(KEEP_ALIVE);
                if (sending.tryLock()) {
                    try {
                        out.write(breath());
                        out.flush();
                    } finally {
                        sending.unlock();
                    }
                }
            }
        } catch (InterruptedException e) {
            // The stream is at its end.
        } catch (IOException e) {
            // Nobody listens any more. The worker that waits for output then meets the exit.
            execution.signal(KILL, Target.TREE);
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

    /// Ends the answer and the keep-alive.
    @Override
    public void close() throws IOException {
        keeper.interrupt();
        try {
            keeper.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        out.close();
    }
}
