package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Question of an agent to a person, with its status and answer. Immutable.
///
/// @param escalatedAt time at which the deadline passed, if the review stays open
public record Review(
        ReviewId id,
        SandboxId sandbox,
        TaskId task,
        NewReview asked,
        Status status,
        Optional<Answer> answer,
        Instant createdAt,
        Instant deadline,
        Optional<Instant> escalatedAt) {
    /// Decision of a person. Immutable.
    public record Answer(String decision, Optional<String> comment, UserId by, Instant at) {}

    /// Status of a review. All but the first are final.
    public enum Status implements TextEnum {
        PENDING,
        APPROVED,
        REJECTED,
        /// One of its options was chosen.
        ANSWERED,
        /// The deadline passed without an answer.
        EXPIRED,
        /// The run ended without an answer.
        CANCELLED
    }

    /// Returns what the server does at the deadline.
    public ReviewPolicy.OnTimeout onTimeout() {
        return asked.policy().onTimeout().orElse(ReviewPolicy.OnTimeout.REJECT);
    }

    public boolean isPending() {
        return status == Status.PENDING;
    }
}
