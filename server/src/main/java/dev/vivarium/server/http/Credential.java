package dev.vivarium.server.http;

import java.util.Optional;

/// Credential of a request. Immutable.
public sealed interface Credential {
    /// Returns the key, token or session id, if the client may use it.
    default Optional<String> secret() {
        return switch (this) {
            case Shown(String text) -> Optional.of(text);
            case Session(String id) -> Optional.of(id);
            case Foreign _ -> Optional.empty();
        };
    }

    /// Key or token, which the client sent explicitly.
    record Shown(String text) implements Credential {
        @Override
        public String toString() {
            return "Shown[…]";
        }
    }

    /// Browser session. The browser adds it to requests of a page of this server.
    record Session(String id) implements Credential {
        @Override
        public String toString() {
            return "Session[…]";
        }
    }

    /// Browser session that was sent for a page of another or an unknown origin. It never authenticates.
    record Foreign() implements Credential {}
}
