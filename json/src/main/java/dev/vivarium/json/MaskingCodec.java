package dev.vivarium.json;

import dev.vivarium.model.EventBody;
import dev.vivarium.model.EventCodec;
import java.util.function.UnaryOperator;

/// Codec that replaces secrets in the text of events before the log stores it. Thread-safe.
///
/// @param mask replaces secrets in a JSON text; the result must be JSON
public record MaskingCodec(EventCodec codec, UnaryOperator<String> mask) implements EventCodec {
    @Override
    public String encode(EventBody body) {
        return mask.apply(codec.encode(body));
    }

    @Override
    public EventBody decode(String type, String data) {
        return codec.decode(type, data);
    }
}
