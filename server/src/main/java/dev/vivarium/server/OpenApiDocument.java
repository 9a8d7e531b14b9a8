package dev.vivarium.server;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonSchema;
import dev.vivarium.json.JsonType;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// Generator of the OpenAPI document from the route descriptions. The build runs it; the server does not. Confined to
/// one thread.
final class OpenApiDocument {
    /// Methods of a route that accepts every method, because OpenAPI cannot express that.
    private static final List<String> USUAL_METHODS = List.of("GET", "POST", "PUT", "PATCH", "DELETE");

    private final JsonSchema schemas = JsonSchema.withComponents();

    private OpenApiDocument() {}

    /// Writes the document to a file.
    public static void main(String[] args) throws IOException {
        var target = Path.of(args[0]);
        Files.createDirectories(target.getParent());
        Files.write(target, Json.bytes(new OpenApiDocument()::write));
    }

    private void write(JsonGenerator out) {
        out.writeStringProperty("openapi", "3.1.0");
        writeInfo(out);
        writeSecurity(out, "bearer", "apiKey", "session");
        out.writeObjectPropertyStart("paths");
        Routes.descriptions().stream()
                .collect(Collectors.groupingBy(OpenApiDocument::path, LinkedHashMap::new, Collectors.toList()))
                .forEach((path, routes) -> {
                    out.writeObjectPropertyStart(path);
                    routes.forEach(route -> methods(route).forEach(method -> writeOperation(out, route, method)));
                    out.writeEndObject();
                });
        out.writeEndObject();
        out.writeObjectPropertyStart("components");
        writeSecuritySchemes(out);
        out.writeObjectPropertyStart("schemas");
        schemas.writeComponents(out);
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void writeInfo(JsonGenerator out) {
        out.writeObjectPropertyStart("info");
        out.writeStringProperty("title", "Vivarium");
        out.writeStringProperty("version", "0.1.0");
        out.writeStringProperty("summary", "A self-hosted sandbox server for AI agents.");
        out.writeStringProperty("description", """
                A thread is a conversation and has at most one sandbox. A session is the sandbox. Errors are problems \
                of RFC 9457 with a sentence in `error`. Every response has `X-Request-Id`. Responses may have \
                additional fields in later versions. The server rejects unknown fields in requests.""");
        out.writeEndObject();
    }

    private static void writeSecurity(JsonGenerator out, String... schemes) {
        out.writeArrayPropertyStart("security");
        for (String scheme : schemes) {
            out.writeStartObject();
            out.writeArrayPropertyStart(scheme);
            out.writeEndArray();
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void writeSecuritySchemes(JsonGenerator out) {
        out.writeObjectPropertyStart("securitySchemes");
        out.writeObjectPropertyStart("bearer");
        out.writeStringProperty("type", "http");
        out.writeStringProperty("scheme", "bearer");
        out.writeEndObject();
        writeApiKey(out, "apiKey", "header", "X-API-Key");
        out.writeEndObject();
        writeApiKey(out, "session", "cookie", "viv_session");
        out.writeStringProperty("description", """
                The session of a browser, for requests from pages of this server. `Sec-Fetch-Site` must be \
                `same-origin`. Requests that change state and WebSockets must send the `Origin` of the server. With \
                https the name is `__Host-viv_session`. Routes that accept a key accept a session, except previews \
                and the routes of workers.""");
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void writeApiKey(JsonGenerator out, String scheme, String place, String name) {
        out.writeObjectPropertyStart(scheme);
        out.writeStringProperty("type", "apiKey");
        out.writeStringProperty("in", place);
        out.writeStringProperty("name", name);
    }

    /// Returns the path of a route. OpenAPI cannot express a parameter that matches the rest of the path.
    private static String path(RouteDescription route) {
        return route.template().replace("…}", "}");
    }

    private static List<String> methods(RouteDescription route) {
        return route.method().equals(Route.ANY) ? USUAL_METHODS : List.of(route.method());
    }

    private void writeOperation(JsonGenerator out, RouteDescription route, String method) {
        String capitalized = method.charAt(0) + method.substring(1).toLowerCase(Locale.ROOT);
        out.writeObjectPropertyStart(method.toLowerCase(Locale.ROOT));
        out.writeStringProperty("operationId", route.id().formatted(capitalized));
        out.writeStringProperty("summary", route.summary());
        writeText(out, route.description());
        if (!route.needsCredential()) {
            writeSecurity(out);
        }
        if (!route.parameters().isEmpty()) {
            out.writeArrayPropertyStart("parameters");
            route.parameters().forEach(parameter -> writeParameter(out, parameter));
            out.writeEndArray();
        }
        route.request().ifPresent(body -> {
            out.writeObjectPropertyStart("requestBody");
            out.writeBooleanProperty("required", body.isRequired());
            writeContent(out, body.content());
            out.writeEndObject();
        });
        out.writeObjectPropertyStart("responses");
        route.responses().values().forEach(response -> writeResponse(out, response));
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void writeText(JsonGenerator out, String text) {
        if (!text.isEmpty()) {
            out.writeStringProperty("description", text);
        }
    }

    private void writeParameter(JsonGenerator out, RouteDescription.Parameter parameter) {
        out.writeStartObject();
        out.writeStringProperty("name", parameter.name());
        out.writeStringProperty("in", parameter.place());
        out.writeBooleanProperty("required", parameter.isRequired());
        writeText(out, parameter.text());
        out.writeName("schema");
        schemas.write(out, parameter.type());
        out.writeEndObject();
    }

    private void writeResponse(JsonGenerator out, RouteDescription.Response response) {
        out.writeObjectPropertyStart(response.status());
        out.writeStringProperty("description", response.text());
        if (!response.headers().isEmpty()) {
            out.writeObjectPropertyStart("headers");
            response.headers().forEach((name, type) -> writeSchema(out, name, type));
            out.writeEndObject();
        }
        writeContent(out, response.content());
        out.writeEndObject();
    }

    private void writeContent(JsonGenerator out, Map<String, JsonType<?>> content) {
        if (!content.isEmpty()) {
            out.writeObjectPropertyStart("content");
            content.forEach((mediaType, type) -> writeSchema(out, mediaType, type));
            out.writeEndObject();
        }
    }

    private void writeSchema(JsonGenerator out, String name, JsonType<?> type) {
        out.writeObjectPropertyStart(name);
        out.writeName("schema");
        schemas.write(out, type);
        out.writeEndObject();
    }
}
