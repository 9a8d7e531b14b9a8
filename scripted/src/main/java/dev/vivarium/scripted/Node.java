package dev.vivarium.scripted;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/// JSON value of any shape. Immutable.
///
/// An absent value reads as empty, because agents omit optional fields.
final class Node {
    static final Node NONE = new Node(null);
    static final Node EMPTY = new Node(Map.of());

    /// Limits for conversations, which with files can have a few megabytes. Scripts are smaller.
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(200)
                    .maxStringLength(64 * 1024 * 1024)
                    .build())
            .build();

    private final @Nullable Object value;

    private Node(@Nullable Object value) {
        this.value = value;
    }

    /// Parses one value. Text after the value is an error.
    static Node parse(String text) {
        try (var parser = JSON.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() == null) {
                throw new IllegalArgumentException("is empty");
            }
            var node = new Node(read(parser));
            if (parser.nextToken() != null) {
                throw new IllegalArgumentException("goes on after its end");
            }
            return node;
        } catch (JacksonException e) {
            throw new IllegalArgumentException("is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    Node get(String name) {
        return value instanceof Map<?, ?> map && map.get(name) != null ? new Node(map.get(name)) : NONE;
    }

    /// Returns this object with one more field, whose value is a text, a number, an object, a list or null.
    Node with(String name, @Nullable Object field) {
        var fields = new LinkedHashMap<String, @Nullable Object>();
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, present) -> fields.put(String.valueOf(key), present));
        }
        fields.put(name, field);
        return new Node(fields);
    }

    /// Returns the elements of an array, or an empty list.
    List<Node> items() {
        return value instanceof List<?> list ? list.stream().map(Node::new).toList() : List.of();
    }

    List<String> names() {
        return value instanceof Map<?, ?> map
                ? map.keySet().stream().map(String::valueOf).toList()
                : List.of();
    }

    boolean isPresent() {
        return value != null;
    }

    boolean isObject() {
        return value instanceof Map;
    }

    Optional<String> string() {
        return value instanceof String text ? Optional.of(text) : Optional.empty();
    }

    String text() {
        return string().orElse("");
    }

    Optional<Long> integer() {
        return value instanceof Long number ? Optional.of(number) : Optional.empty();
    }

    boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    /// Returns compact JSON.
    String json() {
        var out = new StringWriter();
        try (var generator = JSON.createGenerator(ObjectWriteContext.empty(), out)) {
            write(generator, value);
        }
        return out.toString();
    }

    private static void write(JsonGenerator out, @Nullable Object value) {
        switch (value) {
            case null -> out.writeNull();
            case Node node -> write(out, node.value);
            case String text -> out.writeString(text);
            case Integer number -> out.writeNumber(number);
            case Long number -> out.writeNumber(number);
            case Double number -> out.writeNumber(number);
            case Boolean flag -> out.writeBoolean(flag);
            case List<?> list -> {
                out.writeStartArray();
                list.forEach(item -> write(out, item));
                out.writeEndArray();
            }
            case Map<?, ?> map -> {
                out.writeStartObject();
                map.forEach((name, item) -> {
                    out.writeName(String.valueOf(name));
                    write(out, item);
                });
                out.writeEndObject();
            }
            default -> throw new IllegalStateException(value.getClass().getName());
        }
    }

    private static @Nullable Object read(JsonParser parser) {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> parser.getString();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            default -> null;
        };
    }

    private static Map<String, @Nullable Object> object(JsonParser parser) {
        var values = new LinkedHashMap<String, @Nullable Object>();
        @Nullable String name;
        while ((name = parser.nextName()) != null) {
            parser.nextToken();
            values.put(name, read(parser));
        }
        return values;
    }

    private static List<@Nullable Object> array(JsonParser parser) {
        var elements = new ArrayList<@Nullable Object>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            elements.add(read(parser));
        }
        return elements;
    }
}
