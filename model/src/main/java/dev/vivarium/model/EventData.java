package dev.vivarium.model;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/// What an event of our own says: a flat JSON object of texts, lists of them, numbers and flags, in the order they were
/// given. Immutable.
public final class EventData {
    private static final EventData NOTHING = new EventData(Map.of());

    private final Map<String, String> values;

    private EventData(Map<String, String> values) {
        this.values = values;
    }

    public static EventData of(String name, String value) {
        return NOTHING.with(name, value);
    }

    public static EventData of(String name, long value) {
        return NOTHING.with(name, value);
    }

    public static EventData nothing() {
        return NOTHING;
    }

    public EventData with(String name, String value) {
        return plus(name, quoted(value));
    }

    public EventData with(String name, long value) {
        return plus(name, Long.toString(value));
    }

    public EventData with(String name, boolean value) {
        return plus(name, Boolean.toString(value));
    }

    public EventData with(String name, BigDecimal value) {
        return plus(name, value.toPlainString());
    }

    public EventData with(String name, double value) {
        return plus(name, Double.toString(value));
    }

    public EventData with(String name, List<String> values) {
        return plus(name, values.stream().map(EventData::quoted).collect(Collectors.joining(",", "[", "]")));
    }

    public EventData with(String name, Optional<String> value) {
        return value.map(text -> with(name, text)).orElse(this);
    }

    /// With a JSON object that is there as text.
    public EventData withObject(String name, String json) {
        return plus(name, json);
    }

    private EventData plus(String name, String json) {
        var more = new LinkedHashMap<>(values);
        more.put(name, json);
        return new EventData(more);
    }

    /// The object as JSON.
    public String text() {
        var object = new StringJoiner(",", "{", "}");
        values.forEach((name, json) -> object.add(quoted(name) + ":" + json));
        return object.toString();
    }

    private static String quoted(String text) {
        var out = new StringBuilder("\"");
        text.codePoints().forEach(c -> {
            switch (c) {
                case '"', '\\' -> out.append('\\').appendCodePoint(c);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                case '\r' -> out.append("\\r");
                default -> {
                    boolean isPlain = c >= 0x20 && (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE);
                    out.append(isPlain ? Character.toString(c) : "\\u%04x".formatted(c));
                }
            }
        });
        return out.append('"').toString();
    }
}
