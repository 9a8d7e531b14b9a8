package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.SandboxException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import tools.jackson.core.JsonGenerator;

/// JSON form of a type: writes a value, reads a value, and describes itself as a JSON schema. Immutable.
///
/// One declaration serves the handler that reads a request, the handler that writes a response, the client that reads
/// that response, and the OpenAPI document. A hot path may write by hand and use its type only as a description.
public sealed class JsonType<T> permits ObjectType {
    public static final JsonType<String> STRING =
            new JsonType<>(Kind.STRING, Map.of("type", "string"), JsonGenerator::writeString, JsonType::text);
    /// Bytes of a request or response body that is not JSON. Only a description.
    public static final JsonType<String> BYTES = STRING.with("contentMediaType", "application/octet-stream");
    public static final JsonType<Boolean> BOOLEAN = new JsonType<>(
            Kind.BOOLEAN, Map.of("type", "boolean"), JsonGenerator::writeBoolean, (field, value) -> (Boolean) value);
    public static final JsonType<Long> LONG = new JsonType<>(
            Kind.INTEGER, Map.of("type", "integer"), JsonGenerator::writeNumber, (field, value) -> (Long) value);
    /// An integer beyond 32 bits becomes the nearest `int`.
    public static final JsonType<Integer> INT =
            LONG.as(value -> Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE), Integer::longValue);
    /// Writes an integral value without a fraction.
    public static final JsonType<Double> NUMBER =
            new JsonType<>(Kind.NUMBER, Map.of("type", "number"), JsonType::number, JsonType::finite);
    public static final JsonType<BigDecimal> DECIMAL =
            new JsonType<>(Kind.NUMBER, Map.of("type", "number"), JsonGenerator::writeNumber, JsonType::decimal);
    /// Writes millisecond precision.
    public static final JsonType<Instant> TIME = new JsonType<>(
            Kind.STRING, keywords("type", "string", "format", "date-time"), JsonType::time, JsonType::moment);
    public static final JsonType<Duration> SECONDS = seconds(1);
    public static final JsonType<Duration> MINUTES = seconds(60);
    /// Any JSON object, as text.
    public static final JsonType<String> RAW_OBJECT = new JsonType<>(
            Kind.OBJECT,
            Map.of("type", "object"),
            JsonGenerator::writeRawValue,
            (field, value) -> ((JsonFields) value).text());

    private final String name;
    private final Kind kind;
    private final Map<String, Object> schema;
    private final BiConsumer<JsonGenerator, T> writer;
    private final Reader<T> reader;

    /// Types of JSON values, with the rules that error messages state.
    enum Kind {
        STRING(String.class, "must be a string", "must hold strings only"),
        NUMBER(Number.class, "must be a number", "must hold numbers only"),
        INTEGER(Long.class, "must be a whole number", "must hold whole numbers only"),
        BOOLEAN(Boolean.class, "must be true or false", "must hold true or false only"),
        ARRAY(List.class, "must be an array", "must hold arrays only"),
        OBJECT(JsonFields.class, "must be an object", "must hold objects only"),
        ANY(Object.class, "must be a value", "must hold values only");

        private final Class<?> type;
        private final String rule;
        private final String elementRule;

        Kind(Class<?> type, String rule, String elementRule) {
            this.type = type;
            this.rule = rule;
            this.elementRule = elementRule;
        }
    }

    /// Converts a parsed JSON value. `field` is the path of the value, for error messages.
    interface Reader<T> {
        T read(String field, Object value);
    }

    private JsonType(Kind kind, Map<String, Object> schema, BiConsumer<JsonGenerator, T> writer, Reader<T> reader) {
        this("", kind, schema, writer, reader);
    }

    JsonType(
            String name, Kind kind, Map<String, Object> schema, BiConsumer<JsonGenerator, T> writer, Reader<T> reader) {
        this.name = name;
        this.kind = kind;
        this.schema = schema;
        this.writer = writer;
        this.reader = reader;
    }

    /// Returns a type that only writes. `schema` has the keywords of JSON Schema; a value may be a [JsonType].
    public static <T> JsonType<T> written(Map<String, Object> schema, BiConsumer<JsonGenerator, T> writer) {
        return new JsonType<>(Kind.ANY, schema, writer, (field, value) -> {
            throw new UnsupportedOperationException("this type only writes");
        });
    }

    /// Returns a type that only describes.
    public static <T> JsonType<T> described(Map<String, Object> schema) {
        return written(schema, (out, value) -> {
            throw new UnsupportedOperationException("this type only describes");
        });
    }

    /// Returns a description of a value that has one of several forms.
    public static <T> JsonType<T> oneOf(JsonType<?>... forms) {
        return described(Map.of("oneOf", List.of(forms)));
    }

    /// Returns the type of a string that always has the value `text`.
    static JsonType<String> constant(String text) {
        return STRING.with("const", text);
    }

    /// Returns the type of the constants of `type`. `label` is the JSON form of a constant.
    public static <E extends Enum<E>> JsonType<E> constants(Class<E> type, Function<E, String> label) {
        return constants(type, label, "is not one that this version knows");
    }

    /// Returns the same type with the rule that an error states.
    public static <E extends Enum<E>> JsonType<E> constants(Class<E> type, Function<E, String> label, String rule) {
        var all = type.getEnumConstants();
        return STRING.with("enum", Arrays.stream(all).map(label).toList())
                .reading(
                        (field, text) -> Arrays.stream(all)
                                .filter(each -> label.apply(each).equals(text))
                                .findFirst()
                                .orElseThrow(() -> SandboxException.invalid(field, rule)),
                        label);
    }

    /// Returns the type of the constants of `type` by their names in lower case.
    public static <E extends Enum<E>> JsonType<E> constants(Class<E> type) {
        return constants(type, each -> each.name().toLowerCase(Locale.ROOT));
    }

    /// Returns a type that writes an empty value as `null`. Only for responses.
    public static <T> JsonType<Optional<T>> nullable(JsonType<T> type) {
        return written(
                Map.of("oneOf", List.of(type, described(Map.of("type", "null")))),
                (out, value) -> value.ifPresentOrElse(present -> type.write(out, present), out::writeNull));
    }

    public static <E> JsonType<List<E>> list(JsonType<E> element) {
        return new JsonType<>(
                Kind.ARRAY,
                keywords("type", "array", "items", element),
                (out, all) -> {
                    out.writeStartArray();
                    all.forEach(each -> element.write(out, each));
                    out.writeEndArray();
                },
                (field, value) -> ((List<?>) value)
                        .stream().map(each -> element.readElement(field, each)).toList());
    }

    /// Returns the type of an object with arbitrary names. Keeps the order.
    public static <V> JsonType<Map<String, V>> map(JsonType<V> values) {
        return new JsonType<>(
                Kind.OBJECT,
                keywords("type", "object", "additionalProperties", values),
                (out, all) -> {
                    out.writeStartObject();
                    all.forEach((name, value) -> {
                        out.writeName(name);
                        values.write(out, value);
                    });
                    out.writeEndObject();
                },
                (field, value) -> ((JsonFields) value).all(values));
    }

    /// Returns the type of another class with the same JSON form.
    public <U> JsonType<U> as(Function<T, U> from, Function<U, T> to) {
        return reading((field, value) -> from.apply(value), to);
    }

    /// Returns this type with a rule that reading enforces.
    public JsonType<T> checked(Predicate<T> isValid, String rule) {
        return reading(
                (field, value) -> {
                    require(isValid.test(value), field, rule);
                    return value;
                },
                Function.identity());
    }

    private <U> JsonType<U> reading(FieldFunction<T, U> from, Function<U, T> to) {
        return new JsonType<>(
                name,
                kind,
                schema,
                (out, value) -> writer.accept(out, to.apply(value)),
                (field, value) -> from.apply(field, reader.read(field, value)));
    }

    private interface FieldFunction<T, U> {
        U apply(String field, T value);
    }

    /// Returns this type with one more keyword in its schema, such as `maxLength`. The keyword only describes: the
    /// constructor of the value enforces it.
    public JsonType<T> with(String keyword, Object value) {
        var more = new LinkedHashMap<>(schema);
        more.put(keyword, value);
        return new JsonType<>(name, kind, more, writer, reader);
    }

    /// Returns this type as a component of the OpenAPI document.
    public JsonType<T> named(String component) {
        return new JsonType<>(component, kind, schema, writer, reader);
    }

    /// Returns this type with a description. A component keeps its own: the description is beside the reference.
    final JsonType<T> described(String description) {
        return name.isEmpty()
                ? with("description", description)
                : new JsonType<>(kind, keywords("$ref", this, "description", description), writer, reader);
    }

    public JsonType<T> length(int min, int max) {
        return with("minLength", min).with("maxLength", max);
    }

    public JsonType<T> range(long min, long max) {
        return with("minimum", min).with("maximum", max);
    }

    public final void write(JsonGenerator out, T value) {
        writer.accept(out, value);
    }

    /// Converts a parsed JSON value. `field` is its name in error messages.
    public final T read(String field, Object value) {
        return read(field, value, kind.rule);
    }

    private T readElement(String field, Object value) {
        return read(field, value, kind.elementRule);
    }

    private T read(String field, Object value, String rule) {
        require(kind.type.isInstance(value), field, rule);
        return reader.read(field, value);
    }

    /// Returns the name of this type among the components of the OpenAPI document, if it has one.
    public final Optional<String> name() {
        return name.isEmpty() ? Optional.empty() : Optional.of(name);
    }

    /// Returns the keywords of the schema. A value is a string, a number, a boolean, a list, a map or a [JsonType].
    public final Map<String, Object> schema() {
        return schema;
    }

    /// Returns keywords in this order.
    static Map<String, Object> keywords(Object... namesAndValues) {
        var keywords = new LinkedHashMap<String, Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            keywords.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return keywords;
    }

    private static JsonType<Duration> seconds(int perUnit) {
        return NUMBER.with("exclusiveMinimum", 0)
                .reading(
                        (field, value) -> Durations.ofSeconds(field, value * perUnit),
                        time -> Durations.inSeconds(time) / perUnit);
    }

    private static String text(String field, Object value) {
        return JsonFields.wellFormed(field, (String) value);
    }

    private static double finite(String field, Object value) {
        return JsonFields.finite(field, ((Number) value).doubleValue());
    }

    private static BigDecimal decimal(String field, Object value) {
        return BigDecimal.valueOf(finite(field, value));
    }

    private static Instant moment(String field, Object value) {
        try {
            return Instant.parse(text(field, value));
        } catch (DateTimeParseException e) {
            throw SandboxException.invalid(field, "must be a moment such as 2026-01-01T10:00:00Z");
        }
    }

    private static void time(JsonGenerator out, Instant moment) {
        out.writeString(moment.truncatedTo(ChronoUnit.MILLIS).toString());
    }

    private static void number(JsonGenerator out, double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            out.writeNumber((long) value);
        } else {
            out.writeNumber(value);
        }
    }
}
