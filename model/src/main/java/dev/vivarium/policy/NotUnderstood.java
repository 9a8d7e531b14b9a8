package dev.vivarium.policy;

/// Leaves the parser at the first thing it refuses; [CommandPolicy] turns it into a verdict, so it
/// never reaches a caller. Has no stack trace: hostile input must not be dearer to refuse than to
/// accept. Immutable.
final class NotUnderstood extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotUnderstood(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
