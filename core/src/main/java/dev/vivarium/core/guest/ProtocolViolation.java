package dev.vivarium.core.guest;

/// The guest sent something that the protocol forbids; whoever catches it closes the connection. It never leaves this
/// package: callers see that the guest cannot be reached.
final class ProtocolViolation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProtocolViolation(String what) {
        // Without a stack: a hostile guest must not make us walk one for each frame.
        super(what, null, false, false);
    }
}
