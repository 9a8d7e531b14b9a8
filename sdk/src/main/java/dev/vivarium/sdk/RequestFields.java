package dev.vivarium.sdk;

import dev.vivarium.json.JsonType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Members of a JSON object that a client sends, in the order in which they were set. Immutable.
record RequestFields(Map<String, Consumer<JsonGenerator>> members) {
    static final RequestFields NONE = new RequestFields(Map.of());

    <T> RequestFields with(String name, JsonType<T> type, T value) {
        var more = new LinkedHashMap<>(members);
        more.put(name, out -> type.write(out, value));
        return new RequestFields(more);
    }

    void write(JsonGenerator out) {
        members.forEach((name, value) -> {
            out.writeName(name);
            value.accept(out);
        });
    }
}
