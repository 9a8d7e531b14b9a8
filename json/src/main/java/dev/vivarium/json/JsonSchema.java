package dev.vivarium.json;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/// Writer of JSON schemas. Confined to one thread.
///
/// In an OpenAPI document a named type is a reference to a component; [#writeComponents] writes the components that
/// were referenced. Elsewhere every type is written in place.
public final class JsonSchema {
    private final boolean hasComponents;
    private final Map<String, JsonType<?>> components = new LinkedHashMap<>();

    private JsonSchema(boolean hasComponents) {
        this.hasComponents = hasComponents;
    }

    public static JsonSchema withComponents() {
        return new JsonSchema(true);
    }

    /// Returns the whole schema of a type as JSON text, without references.
    public static String text(JsonType<?> type) {
        var schema = new JsonSchema(false);
        return new String(Json.bytes(out -> schema.writeKeywords(out, type.schema())), StandardCharsets.UTF_8);
    }

    /// Writes the schema of a type, or a reference to it.
    public void write(JsonGenerator out, JsonType<?> type) {
        out.writeStartObject();
        if (hasComponents && type.name().isPresent()) {
            out.writeStringProperty("$ref", reference(type));
        } else {
            writeKeywords(out, type.schema());
        }
        out.writeEndObject();
    }

    /// Writes the properties of the object `components/schemas`.
    public void writeComponents(JsonGenerator out) {
        // A component may refer to more components.
        for (int written = 0; written < components.size(); written++) {
            var next = components.entrySet().stream().skip(written).findFirst().orElseThrow();
            out.writeObjectPropertyStart(next.getKey());
            writeKeywords(out, next.getValue().schema());
            out.writeEndObject();
        }
    }

    private String reference(JsonType<?> type) {
        String name = type.name().orElseThrow();
        var known = components.putIfAbsent(name, type);
        if (known != null && known != type) {
            throw new IllegalStateException("two types have the name " + name);
        }
        return "#/components/schemas/" + name;
    }

    private void writeKeywords(JsonGenerator out, Map<?, ?> keywords) {
        keywords.forEach((name, value) -> {
            if (name.equals("$ref") && value instanceof JsonType<?> type) {
                if (hasComponents) {
                    out.writeStringProperty("$ref", reference(type));
                } else {
                    writeKeywords(out, type.schema());
                }
            } else {
                out.writeName((String) name);
                writeValue(out, value);
            }
        });
    }

    private void writeValue(JsonGenerator out, Object value) {
        switch (value) {
            case JsonType<?> type -> write(out, type);
            case Map<?, ?> map -> {
                out.writeStartObject();
                writeKeywords(out, map);
                out.writeEndObject();
            }
            case List<?> list -> {
                out.writeStartArray();
                list.forEach(each -> writeValue(out, each));
                out.writeEndArray();
            }
            case Boolean flag -> out.writeBoolean(flag);
            case Integer number -> out.writeNumber(number);
            case Long number -> out.writeNumber(number);
            case Double number -> out.writeNumber(number);
            default -> out.writeString(value.toString());
        }
    }
}
