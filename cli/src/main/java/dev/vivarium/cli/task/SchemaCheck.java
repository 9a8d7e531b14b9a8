package dev.vivarium.cli.task;

import dev.vivarium.cli.task.Value.Decimal;
import dev.vivarium.cli.task.Value.Fields;
import dev.vivarium.cli.task.Value.Flag;
import dev.vivarium.cli.task.Value.Items;
import dev.vivarium.cli.task.Value.Text;
import dev.vivarium.cli.task.Value.WholeNumber;
import dev.vivarium.json.JsonType;
import dev.vivarium.model.NearestName;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// Check of values against the schemas that the API declares for its requests. A violation is an `InvalidRequest` that
/// names the line. Immutable.
///
/// The server checks the request again. This check is earlier, names lines, and suggests names.
record SchemaCheck(SourceFile file) {
    private static final String AFTER_TASK = ": ";

    /// @param path the value in error messages, for example `task test: ` or `task test: limits`
    void check(String path, Value value, JsonType<?> type) {
        Map<String, Object> schema = type.schema();
        if (schema.get("$ref") instanceof JsonType<?> component) {
            check(path, value, component);
            return;
        }
        switch (String.valueOf(schema.get("type"))) {
            case "string" -> requireText(path, value, schema);
            case "integer" -> {
                require(value instanceof WholeNumber, path, value, "must be a whole number");
                requireRange(path, value, schema);
            }
            case "number" -> {
                boolean isNumber = value instanceof WholeNumber || value instanceof Decimal;
                require(isNumber, path, value, "must be a number");
                requireRange(path, value, schema);
            }
            case "boolean" -> require(value instanceof Flag, path, value, "must be true or false");
            case "array" -> checkItems(path, value, schema);
            case "object" -> checkFields(path, value, schema);
            default -> {
                // The value has one of several forms. The server checks it.
            }
        }
    }

    private void requireText(String path, Value value, Map<String, Object> schema) {
        if (!(value instanceof Text text)) {
            throw wrong(path, value, "must be a string" + quoted(value));
        }
        if (schema.get("enum") instanceof List<?> allowed && !allowed.contains(text.value())) {
            throw wrong(
                    path,
                    value,
                    "must be one of " + allowed.stream().map(String::valueOf).collect(Collectors.joining(", ")));
        }
    }

    /// Returns advice for a number or flag that was meant as text.
    private static String quoted(Value value) {
        return switch (value) {
            case WholeNumber number -> "; write \"" + number.value() + "\"";
            case Decimal number -> "; write \"" + number.value() + "\"";
            case Flag flag -> "; write \"" + flag.value() + "\"";
            default -> "";
        };
    }

    private void requireRange(String path, Value value, Map<String, Object> schema) {
        double number = value instanceof WholeNumber whole ? whole.value() : ((Decimal) value).value();
        bound(schema, "minimum")
                .ifPresent(min -> require(number >= min, path, value, "must be at least " + plain(min)));
        bound(schema, "exclusiveMinimum")
                .ifPresent(min -> require(number > min, path, value, "must be above " + plain(min)));
        bound(schema, "maximum").ifPresent(max -> require(number <= max, path, value, "must be at most " + plain(max)));
    }

    private static Optional<Double> bound(Map<String, Object> schema, String keyword) {
        return schema.get(keyword) instanceof Number bound ? Optional.of(bound.doubleValue()) : Optional.empty();
    }

    private static String plain(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }

    private void checkItems(String path, Value value, Map<String, Object> schema) {
        if (!(value instanceof Items items)) {
            throw wrong(path, value, "must be a list");
        }
        if (schema.get("items") instanceof JsonType<?> element) {
            for (int i = 0; i < items.all().size(); i++) {
                check(path + "[" + i + "]", items.all().get(i), element);
            }
        }
    }

    private void checkFields(String path, Value value, Map<String, Object> schema) {
        if (!(value instanceof Fields fields)) {
            throw wrong(path, value, "must have fields, as 'key: value'");
        }
        Map<?, ?> known = schema.get("properties") instanceof Map<?, ?> properties ? properties : Map.of();
        fields.all().forEach((name, field) -> {
            String place = place(path, name);
            if (known.get(name) instanceof JsonType<?> type) {
                check(place, field, type);
            } else if (schema.get("additionalProperties") instanceof JsonType<?> any) {
                check(place, field, any);
            } else if (Boolean.FALSE.equals(schema.get("additionalProperties"))) {
                throw unknown(place, name, field, known);
            }
        });
        if (schema.get("required") instanceof List<?> required) {
            required.forEach(name ->
                    require(fields.all().containsKey(name), place(path, String.valueOf(name)), value, "is required"));
        }
    }

    private static String place(String path, String name) {
        return path + (path.endsWith(AFTER_TASK) ? "" : ".") + name;
    }

    private SandboxException unknown(String path, String name, Value value, Map<?, ?> known) {
        List<String> names = known.keySet().stream().map(String::valueOf).toList();
        return wrong(path, value, "is not a known field; did you mean " + NearestName.of(name, names) + "?");
    }

    private void require(boolean holds, String path, Value value, String rule) {
        if (!holds) {
            throw wrong(path, value, rule);
        }
    }

    private SandboxException wrong(String path, Value value, String rule) {
        return file.error(value.line(), path.endsWith(AFTER_TASK) ? path.substring(0, path.length() - 2) : path, rule);
    }
}
