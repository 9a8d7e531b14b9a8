package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Utf8Decoder;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// Writer of process output as text events. Confined to one thread.
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

    /// Sends a replacement character for a stream that ends inside a character.
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
