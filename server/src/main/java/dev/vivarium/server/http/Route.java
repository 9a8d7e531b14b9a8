package dev.vivarium.server.http;

import dev.vivarium.core.access.Scope;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// One operation of the API: a method, a path template such as `/admin/keys/{key_id}`, who may call it, and what
/// answers. A last parameter such as `{path…}` takes the rest of the path, slashes included. Immutable.
public record Route(String method, String template, Access access, Operation operation) {
    /// Who may call a route.
    public sealed interface Access {
        Access OPEN = new Open();
        Access KEY = new Key();
        Access ADMIN = new Admin();
        Access TOKEN = new Token(false);
        Access TOKEN_RECORDED = new Token(true);
        Access OWN = new Own();
        Access WORKER = new Worker();

        /// Anybody.
        record Open() implements Access {}

        /// Whoever has a key.
        record Key() implements Access {}

        /// Whoever has an admin key.
        record Admin() implements Access {}

        /// Whoever has a key, or a capability token for the sandbox of the thread that `{thread_id}` names.
        /// `recorded` if the handler puts on record itself what came of it.
        record Token(boolean recorded) implements Access {}

        /// Whoever may do this to the sandbox that `{sandbox_id}` names, by key or by token.
        record Scoped(Scope scope) implements Access {}

        /// The same for a sandbox that may have ended; then for its owner alone, since its tokens ended with
        /// it.
        record Kept(Scope scope) implements Access {}

        /// The same, or the worker of that very sandbox.
        record Inside(Scope scope) implements Access {}

        /// The worker of a sandbox, with the token it was started with.
        record Worker() implements Access {}

        /// Whoever the handler lets in, because it takes credentials in more places than headers.
        record Own() implements Access {}

        /// The scope that a caller of the route needs, if it needs one.
        default Optional<Scope> needed() {
            return switch (this) {
                case Scoped(var scope) -> Optional.of(scope);
                case Kept(var scope) -> Optional.of(scope);
                case Inside(var scope) -> Optional.of(scope);
                case Open _, Key _, Admin _, Token _, Worker _, Own _ -> Optional.empty();
            };
        }

        static Access kept(Scope scope) {
            return new Kept(scope);
        }

        static Access scoped(Scope scope) {
            return new Scoped(scope);
        }

        static Access inside(Scope scope) {
            return new Inside(scope);
        }
    }

    /// Requests that change only files and processes can be cancelled at any point.
    private static final List<String> BREAKABLE =
            List.of("/execute", "/exec", "/upload_file", "/download_file", "/files/{path…}");

    /// The method of a route that answers to all.
    public static final String ANY = "*";

    /// What answers a request. It may throw [dev.vivarium.model.SandboxException] until it has begun to answer.
    @FunctionalInterface
    public interface Operation {
        void handle(Exchange exchange) throws IOException;
    }

    /// Reports whether its guest calls are cancelled when the client hangs up. What changes the state of a sandbox
    /// is done to its end: half a creation or half a snapshot helps nobody.
    boolean endsWithClient() {
        return method.equals("GET") || method.equals(ANY) || BREAKABLE.stream().anyMatch(template::endsWith);
    }

    public static Route any(String template, Access access, Operation operation) {
        return new Route(ANY, template, access, operation);
    }

    public static Route get(String template, Access access, Operation operation) {
        return new Route("GET", template, access, operation);
    }

    public static Route post(String template, Access access, Operation operation) {
        return new Route("POST", template, access, operation);
    }

    public static Route put(String template, Access access, Operation operation) {
        return new Route("PUT", template, access, operation);
    }

    public static Route patch(String template, Access access, Operation operation) {
        return new Route("PATCH", template, access, operation);
    }

    public static Route delete(String template, Access access, Operation operation) {
        return new Route("DELETE", template, access, operation);
    }
}
