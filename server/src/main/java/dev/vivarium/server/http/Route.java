package dev.vivarium.server.http;

import dev.vivarium.core.access.Scope;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// One operation of the API: its description and its handler. Immutable.
public record Route(RouteDescription description, Operation operation) {
    /// Access that a route requires.
    public sealed interface Access {
        Access OPEN = new Open();
        Access KEY = new Key();
        Access ADMIN = new Admin();
        Access TOKEN = new Token();
        Access OWN = new Own();
        Access WORKER = new Worker();

        /// No credential.
        record Open() implements Access {}

        /// A key.
        record Key() implements Access {}

        /// An admin key.
        record Admin() implements Access {}

        /// A key, or a capability token for the sandbox of the thread in `{thread_id}`.
        record Token() implements Access {}

        /// A key or token with this scope for the sandbox in `{sandbox_id}`.
        record Scoped(Scope scope) implements Access {}

        /// The same for a sandbox that may have ended. Its tokens ended with it, so only its owner has access
        /// then.
        record Kept(Scope scope) implements Access {}

        /// The same as [Scoped], or the token of the worker inside that sandbox.
        record Inside(Scope scope) implements Access {}

        /// The token of the worker inside a sandbox.
        record Worker() implements Access {}

        /// Checked by the handler, which accepts credentials in more places than headers.
        record Own() implements Access {}

        /// A key or token with this scope for the target, in the first message of a WebSocket. [Handshake]
        /// checks it.
        record FirstMessage(Target target, Scope scope) implements Access {
            public enum Target {
                /// The sandbox in `{sandbox_id}`.
                SANDBOX,
                /// The sandbox in `{sandbox_id}`, which may have ended.
                KEPT_SANDBOX,
                /// All sandboxes that a key may see, or the sandbox of a token.
                VISIBLE_SANDBOXES
            }
        }

        /// Returns the required scope, if the route requires one.
        default Optional<Scope> needed() {
            return switch (this) {
                case Scoped(var scope) -> Optional.of(scope);
                case Kept(var scope) -> Optional.of(scope);
                case Inside(var scope) -> Optional.of(scope);
                case FirstMessage(var _, var scope) -> Optional.of(scope);
                case Open _, Key _, Admin _, Token _, Worker _, Own _ -> Optional.empty();
            };
        }

        /// Reports whether the dispatcher calls the handler without a credential.
        default boolean isAnonymous() {
            return this instanceof Open || this instanceof FirstMessage;
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

        static Access firstMessage(FirstMessage.Target target, Scope scope) {
            return new FirstMessage(target, scope);
        }
    }

    /// Requests that change only files and processes can be cancelled at any point.
    private static final List<String> BREAKABLE =
            List.of("/execute", "/exec", "/upload_file", "/download_file", "/files/{path…}");

    /// Method of a route that accepts every method.
    public static final String ANY = "*";

    /// Handler of a request. It may throw [dev.vivarium.model.SandboxException] until it sends the status.
    @FunctionalInterface
    public interface Operation {
        void handle(Exchange exchange) throws IOException;
    }

    /// Reports whether the server cancels the guest calls of the request when the client disconnects. Requests that
    /// change the state of a sandbox run to their end, because half a creation or half a snapshot is useless.
    boolean endsWithClient() {
        return method().equals("GET")
                || method().equals(ANY)
                || BREAKABLE.stream().anyMatch(template()::endsWith);
    }

    /// Returns a route that is not part of the API, such as a page of the console.
    public static Route undocumented(String method, String template, Access access, Operation operation) {
        return new Route(new RouteDescription(method, template, access, "", "", List.of()), operation);
    }

    public String method() {
        return description.method();
    }

    public String template() {
        return description.template();
    }

    public Access access() {
        return description.access();
    }
}
