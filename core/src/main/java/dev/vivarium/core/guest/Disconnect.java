package dev.vivarium.core.guest;

/// Reason for the end of a connection. Immutable.
public record Disconnect(Cause cause, String why) {
    /// Cause of the end.
    public enum Cause {
        /// The server closed the connection.
        CLOSED,
        /// The guest closed the connection, or the stream failed. A live guest reconnects.
        BROKEN,
        /// Code of the server failed while it handled the connection. The guest is not at fault and reconnects.
        SERVER_FAULT,
        /// The guest violated the protocol. After the third violation, the sandbox should be ended.
        VIOLATION
    }
}
