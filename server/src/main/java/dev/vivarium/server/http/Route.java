package dev.vivarium.server.http;

import java.io.IOException;
import java.util.List;

/// One operation of the API: a method, a path template such as `/admin/keys/{key_id}`, who may call it, and what
/// answers. Immutable.
public record Route(String method, String template, Access access, Operation operation) {
    /// Who may call a route.
    public enum Access {
        /// Anybody.
        OPEN,
        /// Whoever has a key.
        KEY,
        /// Whoever has an admin key.
        ADMIN
    }

    /// What answers a request. It may throw [dev.vivarium.model.SandboxException] until it has begun to answer.
    @FunctionalInterface
    public interface Operation {
        void handle(Exchange exchange) throws IOException;
    }

    public static Route get(String template, Access access, Operation operation) {
        return new Route("GET", template, access, operation);
    }

    public static Route post(String template, Access access, Operation operation) {
        return new Route("POST", template, access, operation);
    }

    public static Route delete(String template, Access access, Operation operation) {
        return new Route("DELETE", template, access, operation);
    }

    List<String> segments() {
        return Paths.split(template);
    }
}
