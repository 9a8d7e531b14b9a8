package dev.vivarium.json;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.SECONDS;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.JsonType.map;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTypeTest {
    private static final ObjectType<Point> POINT =
            object("Point", Point::new, field("x", INT, Point::x), field("y", INT, "Downwards.", Point::y));
    private static final ObjectType<Shape> SHAPE = object(
                    Shape::new,
                    field("name", STRING.length(1, 20), Shape::name),
                    field("points", list(POINT), Shape::points),
                    optional("delay", SECONDS, "Before it is drawn.", Shape::delay),
                    optional("labels", map(STRING), Shape::labels))
            .named("Shape")
            .closed();

    private record Point(int x, int y) {}

    private record Shape(
            String name, List<Point> points, Optional<Duration> delay, Optional<Map<String, String>> labels) {}

    @Test
    void anObjectIsReadAsItWasWritten() {
        var plain = new Shape("line", List.of(new Point(0, 0), new Point(3, -4)), Optional.empty(), Optional.empty());
        var full = new Shape("dot", List.of(), Optional.of(Duration.ofMillis(2500)), Optional.of(Map.of("a", "b")));

        assertThat(SHAPE.read(Json.request(Json.bytes(SHAPE, plain)))).isEqualTo(plain);
        assertThat(SHAPE.read(Json.request(Json.bytes(SHAPE, full)))).isEqualTo(full);
    }

    @Test
    void anIntegralNumberHasNoFractionAndATimeHasMilliseconds() {
        assertThat(text(Json.bytes(NUMBER, 2.0))).isEqualTo("2");
        assertThat(text(Json.bytes(NUMBER, 2.5))).isEqualTo("2.5");
        assertThat(text(Json.bytes(TIME, Instant.parse("2026-01-01T10:00:00.123456Z"))))
                .isEqualTo("\"2026-01-01T10:00:00.123Z\"");
    }

    @Test
    void anErrorNamesTheFieldAndTheRule() {
        assertInvalid("{\"points\":[]}", "name", "is required");
        assertInvalid("{\"name\":null,\"points\":[]}", "name", "is required");
        assertInvalid("{\"name\":1,\"points\":[]}", "name", "must be a string");
        assertInvalid("{\"name\":\"a\",\"points\":{}}", "points", "must be an array");
        assertInvalid("{\"name\":\"a\",\"points\":[1]}", "points", "must hold objects only");
        assertInvalid("{\"name\":\"a\",\"points\":[{\"x\":1,\"y\":1.5}]}", "points[0].y", "must be a whole number");
        assertInvalid("{\"name\":\"a\",\"points\":[],\"delay\":0}", "delay", "must be more than zero");
        assertInvalid("{\"name\":\"a\",\"points\":[],\"nane\":1}", "nane", "is not a field of this request");
    }

    @Test
    void anOpenObjectIgnoresUnknownFields() {
        assertThat(POINT.read(Json.answer("{\"x\":1,\"y\":2,\"z\":3}"))).isEqualTo(new Point(1, 2));
    }

    @Test
    void aTypePrintsItsWholeSchema() {
        assertThat(JsonSchema.text(SHAPE)).isEqualToIgnoringWhitespace("""
                {"type":"object","properties":{
                  "name":{"type":"string","minLength":1,"maxLength":20},
                  "points":{"type":"array","items":{"type":"object","properties":{
                    "x":{"type":"integer"},"y":{"type":"integer","description":"Downwards."}},"required":["x","y"]}},
                  "delay":{"type":"number","exclusiveMinimum":0,"description":"Before it is drawn."},
                  "labels":{"type":"object","additionalProperties":{"type":"string"}}},
                "required":["name","points"],"additionalProperties":false}""");
    }

    @Test
    void anApiDocumentRefersToNamedTypes() {
        var schemas = JsonSchema.withComponents();
        String reference = text(Json.bytes(out -> {
            out.writeName("shape");
            schemas.write(out, SHAPE);
        }));
        String components = text(Json.bytes(schemas::writeComponents));

        assertThat(reference).isEqualTo("{\"shape\":{\"$ref\":\"#/components/schemas/Shape\"}}");
        assertThat(components)
                .contains("\"items\":{\"$ref\":\"#/components/schemas/Point\"}")
                .contains("\"Point\":{\"type\":\"object\"");
    }

    @Test
    void twoTypesCannotHaveOneName() {
        var schemas = JsonSchema.withComponents();
        ObjectType<Point> other = object("Point", constant("kind", "point"));

        assertThatThrownBy(() -> Json.bytes(out -> {
                    out.writeName("a");
                    schemas.write(out, POINT);
                    out.writeName("b");
                    schemas.write(out, other);
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("two types have the name Point");
    }

    private static void assertInvalid(String body, String field, String rule) {
        assertThatThrownBy(() -> SHAPE.read(Json.request(body.getBytes(StandardCharsets.UTF_8))))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isEqualTo(new Failure.InvalidRequest(field, rule)));
    }

    private static String text(byte[] json) {
        return new String(json, StandardCharsets.UTF_8);
    }
}
