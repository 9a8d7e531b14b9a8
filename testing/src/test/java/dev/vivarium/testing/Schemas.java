package dev.vivarium.testing;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The OpenAPI document of the server, and a validator for the JSON Schema keywords that it uses. An unknown keyword
/// fails the check. Immutable.
final class Schemas {
    private static final JsonMapper JSON = new JsonMapper();
    private static final List<String> ANNOTATIONS = List.of("description", "default", "contentMediaType");

    private final JsonNode document;

    private Schemas(JsonNode document) {
        this.document = document;
    }

    static Schemas of(String openApi) {
        return new Schemas(JSON.readTree(openApi));
    }

    /// Operations, such as `get /health`.
    List<String> operations() {
        var operations = new ArrayList<String>();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .propertyNames()
                        .forEach(method -> operations.add(method + " " + path.getKey())));
        return operations;
    }

    List<String> danglingReferences() {
        return document.findValuesAsString("$ref").stream()
                .distinct()
                .filter(ref -> document.at(ref.substring(1)).isMissingNode())
                .toList();
    }

    /// Violations of the documented schema in a real response.
    List<String> violations(String operation, int status, String contentType, String body) {
        String[] parts = operation.split(" ");
        JsonNode content = document.get("paths")
                .path(parts[1])
                .path(parts[0])
                .path("responses")
                .path(String.valueOf(status))
                .path("content")
                .path(contentType);
        if (content.isMissingNode()) {
            return List.of(status + " " + contentType + " is not described");
        }
        return violations(content.get("schema"), JSON.readTree(body), "$");
    }

    /// Violations of a named schema in a value.
    List<String> violations(String schema, String text) {
        return violations(document.at("/components/schemas/" + schema), JSON.readTree(text), "$");
    }

    private List<String> violations(JsonNode schema, JsonNode value, String at) {
        var found = new ArrayList<String>();
        schema.properties().forEach(rule -> check(schema, rule.getKey(), rule.getValue(), value, at, found));
        return found;
    }

    private void check(JsonNode schema, String keyword, JsonNode rule, JsonNode value, String at, List<String> found) {
        switch (keyword) {
            case "$ref" -> found.addAll(violations(document.at(rule.asString().substring(1)), value, at));
            case "type" -> require(isOfType(rule.asString(), value), at + " must be " + rule.asString(), found);
            case "const" -> require(rule.equals(value), at + " must be " + rule, found);
            case "enum" -> require(contains(rule, value), at + " must be one of " + rule, found);
            case "pattern" ->
                require(
                        Pattern.compile(rule.asString())
                                .matcher(value.asString())
                                .find(),
                        at + " must match " + rule,
                        found);
            case "format" -> require(isTimestamp(value.asString()), at + " must be a timestamp", found);
            case "minimum" ->
                require(number(value).compareTo(number(rule)) >= 0, at + " must be at least " + rule, found);
            case "maximum" ->
                require(number(value).compareTo(number(rule)) <= 0, at + " must be at most " + rule, found);
            case "required" ->
                rule.forEach(name -> require(value.has(name.asString()), at + " must have " + name, found));
            case "properties" ->
                rule.properties().forEach(property -> {
                    if (value.has(property.getKey())) {
                        found.addAll(violations(
                                property.getValue(), value.get(property.getKey()), at + "." + property.getKey()));
                    }
                });
            case "items" -> value.forEach(element -> found.addAll(violations(rule, element, at + "[]")));
            case "additionalProperties" -> additional(schema, rule, value, at, found);
            case "oneOf" -> {
                long matching = 0;
                for (JsonNode option : rule) {
                    matching += violations(option, value, at).isEmpty() ? 1 : 0;
                }
                require(matching == 1, at + " must match exactly one form, not " + matching, found);
            }
            default -> require(ANNOTATIONS.contains(keyword), "unknown keyword " + keyword, found);
        }
    }

    private void additional(JsonNode schema, JsonNode rule, JsonNode value, String at, List<String> found) {
        value.properties().forEach(property -> {
            if (!schema.path("properties").has(property.getKey())) {
                if (rule.isBoolean()) {
                    require(rule.asBoolean(), at + " must not have " + property.getKey(), found);
                } else {
                    found.addAll(violations(rule, property.getValue(), at + "." + property.getKey()));
                }
            }
        });
    }

    private static boolean isOfType(String type, JsonNode value) {
        return switch (type) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isString();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            default -> false;
        };
    }

    private static boolean contains(JsonNode options, JsonNode value) {
        for (JsonNode option : options) {
            if (option.equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isTimestamp(String text) {
        try {
            Instant.parse(text);
            return true;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    private static BigDecimal number(JsonNode value) {
        return value.decimalValue();
    }

    private static void require(boolean holds, String violation, List<String> found) {
        if (!holds) {
            found.add(violation);
        }
    }
}
