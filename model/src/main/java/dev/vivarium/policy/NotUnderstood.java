package dev.vivarium.policy;

/// Rejection of a line by the parser. Immutable.
///
/// [CommandPolicy] converts it to a verdict, so it never reaches a caller. It has no stack trace, because rejecting
/// hostile input must not cost more than accepting it.
final class NotUnderstood extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotUnderstood(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
