package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// Fields of one JSON object, with strict types. Confined to one thread.
///
/// A wrong type, a missing field or an unknown field is a [Failure.InvalidRequest] that names the field. Values are
/// never converted: `"30"` is not a number, and `1.5` is not an integer. `null` counts as absent.
public final class JsonFields {
    private static final String MALFORMED = "must be well-formed Unicode";
    private static final String UNHELD = "must be a number of ordinary size";

    private static final JsonType<List<String>> STRINGS = JsonType.list(JsonType.STRING);

    private static final Pattern TOO_DEEP = Pattern.compile("nesting depth .* maximum allowed \\((\\d+)");
    private static final Pattern ADVICE = Pattern.compile(
            "(, from|: enable| \\(consider enabling| require enabling) `[^`]*`( to allow.*)?| \\([^(]*since Feature .*");

    private final String prefix;
    private final Map<String, Object> values;
    private final Set<String> asked = new HashSet<>();

    private JsonFields(String prefix, Map<String, Object> values) {
        this.prefix = prefix;
        this.values = values;
    }

    static JsonFields read(JsonParser parser) {
        require(parser.nextToken() == JsonToken.START_OBJECT, "body", "must be a JSON object");
        var fields = object(parser, "");
        require(parser.nextToken() == null, "body", "must end after the JSON object");
        return fields;
    }

    static List<JsonFields> readAll(JsonParser parser) {
        require(parser.nextToken() == JsonToken.START_ARRAY, "body", "must be a JSON array");
        var all = new ArrayList<JsonFields>();
        for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
            String place = "[" + all.size() + "]";
            require(next == JsonToken.START_OBJECT, place, "must be an object");
            all.add(object(parser, place + "."));
        }
        require(parser.nextToken() == null, "body", "must end after the JSON array");
        return all;
    }

    /// Returns the position in the request: empty for the whole body, `[3].` for the fourth element of an array.
    public String place() {
        return prefix;
    }

    /// Reports whether the field is present, with any type.
    public boolean has(String name) {
        return find(name, Object.class, "").isPresent();
    }

    /// Reports whether the field is an object.
    boolean isObject(String name) {
        return values.get(name) instanceof JsonFields;
    }

    public <T> T required(String name, JsonType<T> type) {
        return optional(name, type).orElseThrow(() -> missing(name));
    }

    public <T> Optional<T> optional(String name, JsonType<T> type) {
        asked.add(name);
        Object value = values.get(name);
        return value == null || value == Null.NULL ? Optional.empty() : Optional.of(type.read(prefix + name, value));
    }

    /// Returns every field of this object, in order.
    <V> Map<String, V> all(JsonType<V> type) {
        var all = new LinkedHashMap<String, V>();
        values.keySet().forEach(name -> all.put(name, required(name, type)));
        return all;
    }

    public String string(String name) {
        return required(name, JsonType.STRING);
    }

    public Optional<String> optionalString(String name) {
        return optional(name, JsonType.STRING);
    }

    public double number(String name) {
        return required(name, JsonType.NUMBER);
    }

    public OptionalDouble optionalNumber(String name) {
        return optional(name, JsonType.NUMBER).map(OptionalDouble::of).orElse(OptionalDouble.empty());
    }

    public long integer(String name) {
        return required(name, JsonType.LONG);
    }

    public Optional<Long> optionalInteger(String name) {
        return optional(name, JsonType.LONG);
    }

    public boolean flag(String name) {
        return required(name, JsonType.BOOLEAN);
    }

    public Optional<Boolean> optionalFlag(String name) {
        return optional(name, JsonType.BOOLEAN);
    }

    /// Returns the strings of an array. Empty if the field is absent or not an array.
    public Optional<List<String>> findStrings(String name) {
        asked.add(name);
        return values.get(name) instanceof List<?> ? optional(name, STRINGS) : Optional.empty();
    }

    public Instant time(String name) {
        return required(name, JsonType.TIME);
    }

    public Optional<Instant> optionalTime(String name) {
        return optional(name, JsonType.TIME);
    }

    public JsonFields object(String name) {
        return optionalObject(name).orElseThrow(() -> missing(name));
    }

    public Optional<JsonFields> optionalObject(String name) {
        return find(name, JsonFields.class, "must be an object");
    }

    /// Returns the objects of an array, in order.
    public List<JsonFields> objects(String name) {
        return optionalObjects(name).orElseThrow(() -> missing(name));
    }

    /// Returns the objects of an array, in order, if the field is present.
    public Optional<List<JsonFields>> optionalObjects(String name) {
        return find(name, List.class, "must be an array").map(elements -> objects(name, elements));
    }

    private List<JsonFields> objects(String name, List<?> elements) {
        var objects = new ArrayList<JsonFields>(elements.size());
        for (Object element : elements) {
            if (!(element instanceof JsonFields object)) {
                throw SandboxException.invalid(prefix + name, "must hold objects only");
            }
            objects.add(object);
        }
        return objects;
    }

    /// Returns the objects of an array, in order. Ignores other elements and other types.
    public List<JsonFields> findObjects(String name) {
        asked.add(name);
        return values.get(name) instanceof List<?> elements
                ? elements.stream()
                        .filter(JsonFields.class::isInstance)
                        .map(JsonFields.class::cast)
                        .toList()
                : List.of();
    }

    /// Returns the strings of an array, in order, if the field is present.
    public Optional<List<String>> optionalStrings(String name) {
        return optional(name, STRINGS);
    }

    /// Returns the elements of an array, of any type, if the field is present. Objects are [JsonFields].
    Optional<List<?>> optionalList(String name) {
        return find(name, List.class, "must be an array").map(elements -> elements);
    }

    /// Returns every field of this object as text, in order.
    public Map<String, String> strings() {
        return all(JsonType.STRING);
    }

    /// Returns a copy with another text in one field.
    public JsonFields with(String name, String text) {
        return changed(name, text);
    }

    /// Returns a copy with a number in one field.
    public JsonFields with(String name, double number) {
        return changed(name, number);
    }

    /// Returns a copy with a whole number in one field.
    public JsonFields with(String name, long number) {
        return changed(name, number);
    }

    /// Returns a copy with a list of objects in one field.
    public JsonFields with(String name, List<JsonFields> objects) {
        return changed(name, objects);
    }

    /// Returns a copy with an object in one field.
    public JsonFields with(String name, JsonFields object) {
        return changed(name, object);
    }

    private JsonFields changed(String name, Object value) {
        var changed = new LinkedHashMap<>(values);
        changed.put(name, value);
        return new JsonFields(prefix, changed);
    }

    /// Returns this object as JSON text. Rejects unpaired surrogates, and numbers beyond a `double`, which would
    /// change their value.
    public String text() {
        return text(values.keySet());
    }

    /// Returns JSON text with only these fields.
    public String text(Set<String> wanted) {
        return new String(Json.bytes(out -> write(out, wanted)), StandardCharsets.UTF_8);
    }

    /// Returns the names of all fields, in order.
    public List<String> names() {
        return List.copyOf(values.keySet());
    }

    private void write(JsonGenerator out, Set<String> wanted) {
        values.forEach((name, value) -> {
            if (wanted.contains(name)) {
                out.writeName(name);
                write(out, prefix + shortened(name), value);
            }
        });
    }

    private static void write(JsonGenerator out, String path, Object value) {
        switch (value) {
            case String text when !isWellFormed(text) -> throw SandboxException.invalid(path, MALFORMED);
            case String text -> out.writeString(text);
            case Long number -> out.writeNumber(number);
            case BigInteger number -> out.writeNumber(number);
            case Double number when !Double.isFinite(number) -> throw SandboxException.invalid(path, UNHELD);
            case Double number -> out.writeNumber(number);
            case Boolean flag -> out.writeBoolean(flag);
            case List<?> elements -> {
                out.writeStartArray();
                for (int i = 0; i < elements.size(); i++) {
                    write(out, path + "[" + i + "]", elements.get(i));
                }
                out.writeEndArray();
            }
            case JsonFields object -> {
                out.writeStartObject();
                object.write(out, object.values.keySet());
                out.writeEndObject();
            }
            default -> out.writeNull();
        }
    }

    /// Rejects fields that were never read: a misspelt option must not be silently ignored.
    public void refuseOthers() {
        for (String name : values.keySet()) {
            if (!asked.contains(name)) {
                throw SandboxException.invalid(prefix + shortened(name), "is not a field of this request");
            }
        }
    }

    private <T> Optional<T> find(String name, Class<T> type, String rule) {
        asked.add(name);
        Object value = values.get(name);
        if (value == null || value == Null.NULL) {
            return Optional.empty();
        }
        if (!type.isInstance(value)) {
            throw SandboxException.invalid(prefix + name, rule);
        }
        return Optional.of(type.cast(value));
    }

    static String wellFormed(String field, String text) {
        require(isWellFormed(text), field, MALFORMED);
        return text;
    }

    static double finite(String field, double value) {
        require(Double.isFinite(value), field, UNHELD);
        return value;
    }

    private static boolean isWellFormed(String text) {
        return text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private SandboxException missing(String name) {
        return SandboxException.invalid(prefix + name, "is required");
    }

    static SandboxException malformed(JacksonException e) {
        var at = e.getLocation();
        String where = at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
        return new SandboxException(
                new Failure.InvalidRequest("body", "is not acceptable JSON" + where + ": " + complaint(e)), e);
    }

    /// Returns the message of the parser, without its advice for programmers.
    private static String complaint(JacksonException e) {
        var depth = TOO_DEEP.matcher(e.getOriginalMessage());
        return depth.find()
                ? "it is nested too deeply; at most " + depth.group(1) + " levels are read"
                : ADVICE.matcher(e.getOriginalMessage()).replaceAll("");
    }

    private static JsonFields object(JsonParser parser, String prefix) {
        var values = new LinkedHashMap<String, Object>();
        @Nullable String name;
        while ((name = parser.nextName()) != null) {
            parser.nextToken();
            values.put(name, value(parser, prefix + shortened(name)));
        }
        return new JsonFields(prefix, values);
    }

    private static Object value(JsonParser parser, String path) {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser, path + ".");
            case START_ARRAY -> array(parser, path);
            case VALUE_STRING -> parser.getString();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> Null.NULL;
            case VALUE_NUMBER_INT -> integer(parser);
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            default -> throw SandboxException.invalid(path, "is not a JSON value");
        };
    }

    private static List<Object> array(JsonParser parser, String path) {
        var elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            elements.add(value(parser, path + "[" + elements.size() + "]"));
        }
        return elements;
    }

    /// A value beyond 64 bits stays a number, but is not a valid integer for any field.
    private static Object integer(JsonParser parser) {
        return switch (parser.getNumberType()) {
            case INT, LONG -> parser.getLongValue();
            default -> parser.getBigIntegerValue();
        };
    }

    /// A name from a client must not fill an error message.
    private static String shortened(String name) {
        return name.length() <= 60 ? name : name.substring(0, 60) + "…";
    }

    /// JSON `null`, as opposed to an absent field.
    private enum Null {
        NULL
    }
}
