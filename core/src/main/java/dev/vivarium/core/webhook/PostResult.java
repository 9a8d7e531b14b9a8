package dev.vivarium.core.webhook;

import java.util.Optional;

/// Outcome of one request to a receiver. Immutable.
///
/// @param status HTTP status, if the receiver answered
/// @param error  why the attempt failed; empty if the receiver accepted the event
record PostResult(Optional<Integer> status, Optional<String> error) {
    private static final int LONGEST = 500;

    static PostResult answered(int status) {
        if (status >= 200 && status < 300) {
            return new PostResult(Optional.of(status), Optional.empty());
        }
        boolean isRedirect = status >= 300 && status < 400;
        return new PostResult(
                Optional.of(status),
                Optional.of(
                        isRedirect
                                ? "the receiver answered with the redirect " + status + "; redirects are not followed"
                                : "the receiver answered with status " + status));
    }

    static PostResult failed(String why) {
        return new PostResult(Optional.empty(), Optional.of(why.substring(0, Math.min(LONGEST, why.length()))));
    }

    boolean isDelivered() {
        return error.isEmpty();
    }
}
