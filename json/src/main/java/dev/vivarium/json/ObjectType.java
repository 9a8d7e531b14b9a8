package dev.vivarium.json;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// JSON form of an object with known fields. Immutable.
///
/// Fields are written, read and described in the order of their declaration. The first argument of [#object] is the
/// name among the components of the OpenAPI document; an inline object has an empty name.
public final class ObjectType<T> extends JsonType<T> {
    private final List<Field<T, ?>> fields;
    private final Function<JsonFields, T> reader;

    private ObjectType(
            String name, Map<String, Object> schema, List<Field<T, ?>> fields, Function<JsonFields, T> reader) {
        super(
                name,
                Kind.OBJECT,
                schema,
                (out, value) -> {
                    out.writeStartObject();
                    fields.forEach(field -> field.write(out, value));
                    out.writeEndObject();
                },
                (path, value) -> reader.apply((JsonFields) value));
        this.fields = fields;
        this.reader = reader;
    }

    /// One field of a `T`. `A` is its Java type; an absent field is an empty [Optional].
    ///
    /// @param write writes name and value, or nothing if the field is absent
    public record Field<T, A>(
            String name, JsonType<?> type, boolean isRequired, Write<T> write, Function<JsonFields, A> read) {
        private void write(JsonGenerator out, T value) {
            write.accept(out, value);
        }
    }

    /// Writes a field of a value.
    public interface Write<T> {
        void accept(JsonGenerator out, T value);
    }

    public static <T, A> Field<T, A> field(String name, JsonType<A> type, Function<T, A> get) {
        return new Field<>(
                name,
                type,
                true,
                (out, value) -> {
                    out.writeName(name);
                    type.write(out, get.apply(value));
                },
                in -> in.required(name, type));
    }

    /// Returns a field of a request, which is read and not written.
    public static <T, A> Field<T, A> field(String name, JsonType<A> type) {
        return field(name, type, value -> unwritten(name));
    }

    public static <T, A> Field<T, A> field(String name, JsonType<A> type, String description) {
        return field(name, type.described(description));
    }

    public static <T, A> Field<T, A> field(String name, JsonType<A> type, String description, Function<T, A> get) {
        return field(name, type.described(description), get);
    }

    public static <T, A> Field<T, Optional<A>> optional(String name, JsonType<A> type, Function<T, Optional<A>> get) {
        return new Field<>(
                name,
                type,
                false,
                (out, value) -> get.apply(value).ifPresent(present -> {
                    out.writeName(name);
                    type.write(out, present);
                }),
                in -> in.optional(name, type));
    }

    /// Returns a field of a request, which is read and not written.
    public static <T, A> Field<T, Optional<A>> optional(String name, JsonType<A> type) {
        return optional(name, type, value -> unwritten(name));
    }

    public static <T, A> Field<T, Optional<A>> optional(String name, JsonType<A> type, String description) {
        return optional(name, type.described(description));
    }

    private static <A> A unwritten(String name) {
        throw new UnsupportedOperationException(name + " is only read");
    }

    public static <T, A> Field<T, Optional<A>> optional(
            String name, JsonType<A> type, String description, Function<T, Optional<A>> get) {
        return optional(name, type.described(description), get);
    }

    /// Returns a field that always has this value.
    public static <T> Field<T, String> constant(String name, String value) {
        return field(name, JsonType.constant(value), ignored -> value);
    }

    /// Returns a type that is written and not read.
    @SafeVarargs
    public static <T> ObjectType<T> object(String name, Field<T, ?>... fields) {
        return of(name, List.of(fields), in -> {
            throw new UnsupportedOperationException(name + " is only written");
        });
    }

    public static <T, A> ObjectType<T> object(String name, Function<A, T> make, Field<T, A> a) {
        return of(name, List.of(a), in -> make.apply(a.read.apply(in)));
    }

    public static <T, A, B> ObjectType<T> object(String name, BiFunction<A, B, T> make, Field<T, A> a, Field<T, B> b) {
        return of(name, List.of(a, b), in -> make.apply(a.read.apply(in), b.read.apply(in)));
    }

    public static <T, A, B, C> ObjectType<T> object(
            String name, Make3<A, B, C, T> make, Field<T, A> a, Field<T, B> b, Field<T, C> c) {
        return of(name, List.of(a, b, c), in -> make.of(a.read.apply(in), b.read.apply(in), c.read.apply(in)));
    }

    /// Returns an inline type. Use [#named] for a component.
    public static <T, A, B, C, D> ObjectType<T> object(
            Make4<A, B, C, D, T> make, Field<T, A> a, Field<T, B> b, Field<T, C> c, Field<T, D> d) {
        return of(
                "",
                List.of(a, b, c, d),
                in -> make.of(a.read.apply(in), b.read.apply(in), c.read.apply(in), d.read.apply(in)));
    }

    /// Constructor with three parameters.
    public interface Make3<A, B, C, T> {
        T of(A a, B b, C c);
    }

    /// Constructor with four parameters.
    public interface Make4<A, B, C, D, T> {
        T of(A a, B b, C c, D d);
    }

    private static <T> ObjectType<T> of(String name, List<Field<T, ?>> fields, Function<JsonFields, T> reader) {
        var properties = new LinkedHashMap<String, Object>();
        fields.forEach(field -> properties.put(field.name, field.type));
        var required =
                fields.stream().filter(Field::isRequired).map(Field::name).toList();
        var schema = keywords("type", "object", "properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        return new ObjectType<>(name, schema, fields, reader);
    }

    /// Returns this type with a reader for an object of many fields.
    public ObjectType<T> readBy(Function<JsonFields, T> other) {
        return new ObjectType<>(name().orElse(""), schema(), fields, other);
    }

    /// Returns this type for requests: it rejects unknown fields.
    public ObjectType<T> closed() {
        return with("additionalProperties", false).readBy(in -> {
            T value = reader.apply(in);
            in.refuseOthers();
            return value;
        });
    }

    @Override
    public ObjectType<T> named(String component) {
        return new ObjectType<>(component, schema(), fields, reader);
    }

    @Override
    public ObjectType<T> with(String keyword, Object value) {
        var more = new LinkedHashMap<>(schema());
        more.put(keyword, value);
        return new ObjectType<>(name().orElse(""), more, fields, reader);
    }

    /// Returns an object with the fields of another type too, under another name. Written and not read.
    public ObjectType<T> and(String otherName, ObjectType<T> more) {
        var all = new LinkedHashMap<String, Field<T, ?>>();
        fields.forEach(field -> all.put(field.name, field));
        more.fields.forEach(field -> all.putIfAbsent(field.name, field));
        return of(otherName, List.copyOf(all.values()), reader);
    }

    /// Returns an inline object that writes these fields of a part of `U`. Written and not read.
    public <U> ObjectType<U> over(Function<U, T> part) {
        return of(
                "", fields.stream().<Field<U, ?>>map(field -> over(field, part)).toList(), in -> {
                    throw new UnsupportedOperationException("a part is only written");
                });
    }

    private static <U, T, A> Field<U, A> over(Field<T, A> field, Function<U, T> part) {
        return new Field<>(
                field.name,
                field.type,
                field.isRequired,
                (out, value) -> field.write(out, part.apply(value)),
                field.read);
    }

    /// Writes the fields without the braces.
    public void writeFields(JsonGenerator out, T value) {
        fields.forEach(field -> field.write(out, value));
    }

    public T read(JsonFields in) {
        return reader.apply(in);
    }
}
