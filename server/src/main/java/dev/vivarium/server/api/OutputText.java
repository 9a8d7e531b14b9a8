package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.model.ExecEvent;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// The output of a process as text events: a character that a piece cuts in two is sent with the next. Confined to one
/// worker.
final class OutputText {
    private final EventStream events;
    private final Map<ExecEvent.Stream, Utf8Decoder> decoders = new EnumMap<>(ExecEvent.Stream.class);

    OutputText(EventStream events) {
        this.events = events;
        for (var stream : ExecEvent.Stream.values()) {
            decoders.put(stream, new Utf8Decoder());
        }
    }

    void send(ExecEvent.Stream stream, byte[] bytes) throws IOException {
        output(stream, decoder(stream).decode(bytes));
    }

    /// Sends what no further byte will complete.
    void end() throws IOException {
        for (var stream : ExecEvent.Stream.values()) {
            output(stream, decoder(stream).end());
        }
    }

    private void output(ExecEvent.Stream stream, String text) throws IOException {
        if (!text.isEmpty()) {
            events.send(ExecJson.label(stream), json -> ExecJson.output(json, stream, text));
        }
    }

    private Utf8Decoder decoder(ExecEvent.Stream stream) {
        return Objects.requireNonNull(decoders.get(stream));
    }
}
