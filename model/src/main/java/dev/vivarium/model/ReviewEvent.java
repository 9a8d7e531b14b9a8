package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Events of reviews. Immutable.
public sealed interface ReviewEvent extends EventBody {
    /// @param context a JSON object as text
    record Requested(
            ReviewId review,
            TaskId task,
            String reason,
            String description,
            String context,
            boolean blocking,
            Instant deadline)
            implements ReviewEvent {}

    /// @param decision `approve`, `reject` or an option of the agent
    record Answered(ReviewId review, String decision, Optional<String> comment, UserId by) implements ReviewEvent {}

    /// The deadline passed without an answer.
    ///
    /// @param onTimeout what the server did. Events of earlier versions have none
    record Expired(ReviewId review, Instant deadline, Optional<ReviewPolicy.OnTimeout> onTimeout)
            implements ReviewEvent {}

    /// Half of the time until the deadline has passed.
    record Reminder(ReviewId review, Instant deadline) implements ReviewEvent {}

    /// The deadline passed, and the review stays open.
    record Escalated(ReviewId review, Instant deadline) implements ReviewEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Requested _ -> "agent.review_requested";
            case Answered answered -> answered.decision.equals("reject") ? "user.reject" : "user.approve";
            case Expired _ -> "sandbox.review_expired";
            case Reminder _ -> "review.reminder";
            case Escalated _ -> "review.escalated";
        };
    }
}
