package dev.vivarium.core.guest;

/// Why a connection is no more. Immutable.
public record Disconnect(Cause cause, String why) {
    /// Who ended it.
    public enum Cause {
        /// We closed it.
        CLOSED,
        /// The guest hung up, or the stream failed; the guest will connect again if it lives.
        BROKEN,
        /// Code of the server failed while it handled the connection. The guest is not to blame and connects
        /// again.
        SERVER_FAULT,
        /// The guest broke the protocol. The third time, the sandbox should be ended.
        VIOLATION
    }
}
