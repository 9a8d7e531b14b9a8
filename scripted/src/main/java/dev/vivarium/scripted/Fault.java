package dev.vivarium.scripted;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/// Failure instead of an answer, or in the middle of one. Immutable.
record Fault(Kind kind, int status, Optional<Long> retryAfter) {
    private static final Set<String> FIELDS = Set.of("kind", "status", "retry_after");

    enum Kind {
        /// An error in the dialect's own format.
        STATUS,
        /// A page that is not a response of this API.
        GARBAGE,
        /// No response until the client or the server disconnects.
        HANG,
        /// The connection ends before the first byte.
        CLOSE,
        /// A streamed answer ends after its first half.
        CUT
    }

    static Fault read(Node node, String where) {
        Script.refuseOthers(node, FIELDS, where);
        String name = node.get("kind").text();
        for (Kind kind : Kind.values()) {
            if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
                int status = node.get("status").integer().orElse(500L).intValue();
                return new Fault(kind, status, node.get("retry_after").integer());
            }
        }
        throw new IllegalArgumentException(where + ".kind is '" + name + "'; use status, garbage, hang, close or cut");
    }
}
