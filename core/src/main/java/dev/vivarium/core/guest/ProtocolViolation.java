package dev.vivarium.core.guest;

/// Violation of the protocol by the guest. Immutable.
///
/// The catching code closes the connection. The exception never leaves this package; callers get `GuestUnreachable`.
final class ProtocolViolation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProtocolViolation(String what) {
        // Without a stack trace, so that a hostile guest cannot cause the cost of one for each frame.
        super(what, null, false, false);
    }
}
