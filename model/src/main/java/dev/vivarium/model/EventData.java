package dev.vivarium.model;

import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/// Data of an event of the server: a flat JSON object of texts, lists of texts, numbers and flags, in insertion order.
/// Immutable.
public final class EventData {
    private static final HexFormat HEX = HexFormat.of();
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

    /// Adds a JSON object that is given as text.
    public EventData withObject(String name, String json) {
        return plus(name, json);
    }

    private EventData plus(String name, String json) {
        var more = new LinkedHashMap<>(values);
        more.put(name, json);
        return new EventData(more);
    }

    /// Returns the object as JSON.
    public String text() {
        var object = new StringJoiner(",", "{", "}");
        values.forEach((name, json) -> object.add(quoted(name) + ":" + json));
        return object.toString();
    }

    /// This method quotes command output, so every character must be cheap: a command can print only control
    /// characters.
    private static String quoted(String text) {
        var out = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                case '\r' -> out.append("\\r");
                default -> {
                    if (c < ' ' || isUnpaired(text, at)) {
                        out.append("\\u").append(HEX.toHexDigits(c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        return out.append('"').toString();
    }

    private static boolean isUnpaired(String text, int at) {
        char c = text.charAt(at);
        return Character.isHighSurrogate(c)
                        && (at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1)))
                || Character.isLowSurrogate(c) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }
}
