package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.time.Duration;
import java.util.Optional;

/// Deadline of a review, and the action if nobody answers. Immutable.
///
/// @param timeout   time from the request to the deadline
/// @param onTimeout what the server does at the deadline
public record ReviewPolicy(Optional<Duration> timeout, Optional<OnTimeout> onTimeout) {
    /// Policy without own values.
    public static final ReviewPolicy NONE = new ReviewPolicy(Optional.empty(), Optional.empty());

    private static final Duration LONGEST = Duration.ofDays(366);

    /// Action at the deadline of a review.
    public enum OnTimeout implements TextEnum {
        /// The review expires, and the agent continues without an approval.
        REJECT,
        /// The server approves the review.
        APPROVE,
        /// The review expires, and the server stops the run.
        FAIL,
        /// The review stays open, and the server raises an alert.
        ESCALATE
    }

    public ReviewPolicy {
        timeout.ifPresent(time -> require(
                time.isPositive() && time.compareTo(LONGEST) <= 0,
                "timeout_minutes",
                "must be above 0 and at most " + LONGEST.toMinutes()));
    }

    public static ReviewPolicy of(Duration timeout, OnTimeout onTimeout) {
        return new ReviewPolicy(Optional.of(timeout), Optional.of(onTimeout));
    }

    /// Returns this policy, completed by the values of another one.
    public ReviewPolicy orElse(ReviewPolicy other) {
        return new ReviewPolicy(timeout.or(other::timeout), onTimeout.or(other::onTimeout));
    }
}
