package dev.vivarium.core.guest;

/// Why a connection is no more. Immutable.
public record Loss(Cause cause, String why) {
    /// Who ended it.
    public enum Cause {
        /// We closed it.
        CLOSED,
        /// The guest hung up, or the stream failed; the guest will connect again if it lives.
        BROKEN,
        /// The guest broke the protocol. The third time, the sandbox should be ended.
        VIOLATION
    }
}
