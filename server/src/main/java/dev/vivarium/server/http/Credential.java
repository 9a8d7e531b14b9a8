package dev.vivarium.server.http;

/// What somebody shows to be let in. Immutable.
public sealed interface Credential {
    /// A key or a token, which whoever calls has chosen to send.
    record Shown(String text) implements Credential {
        @Override
        public String toString() {
            return "Shown[…]";
        }
    }

    /// The session of a browser, which it sent by itself for a page of ours.
    record Session(String id) implements Credential {
        @Override
        public String toString() {
            return "Session[…]";
        }
    }

    /// The same for a page that is not ours, or not known to be. It opens nothing.
    record Foreign() implements Credential {}
}
