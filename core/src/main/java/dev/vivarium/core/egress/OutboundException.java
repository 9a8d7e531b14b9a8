package dev.vivarium.core.egress;

import java.io.IOException;

/// Failure of a request of the server to a host that a user named. Immutable.
public final class OutboundException extends IOException {
    private static final long serialVersionUID = 1;

    private final Kind kind;

    /// Cause of the failure.
    public enum Kind {
        /// The address is not permitted.
        REFUSED,
        /// The host cannot be reached, or its response is invalid.
        FAILED,
        /// The host did not respond in time.
        TIMED_OUT
    }

    OutboundException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
