package dev.vivarium.server.http;

/// Credential of a request. Immutable.
public sealed interface Credential {
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
