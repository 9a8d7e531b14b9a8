package dev.vivarium.server.api;

import dev.vivarium.json.JsonType;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.util.List;

/// Query parameters that are true or false. Stateless.
final class QueryFlags {
    private QueryFlags() {}

    static JsonType<?> type(boolean standard) {
        return JsonType.STRING.with("enum", List.of("true", "false")).with("default", String.valueOf(standard));
    }

    static boolean of(Exchange exchange, String name, boolean standard) {
        return switch (exchange.optionalQuery(name).orElse(Boolean.toString(standard))) {
            case "true" -> true;
            case "false" -> false;
            default -> throw SandboxException.invalid(name, "must be true or false");
        };
    }
}
