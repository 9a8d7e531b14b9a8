package dev.vivarium.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// A question of an agent to a person, and what became of it. Immutable.
public record Review(
        ReviewId id,
        SandboxId sandbox,
        TaskId task,
        NewReview asked,
        Status status,
        Optional<Answer> answer,
        Instant createdAt,
        Instant deadline) {
    /// What somebody decided. Immutable.
    public record Answer(String decision, Optional<String> comment, UserId by, Instant at) {}

    /// How a review stands. All but the first are final.
    public enum Status {
        PENDING,
        APPROVED,
        REJECTED,
        /// One of its options was chosen.
        ANSWERED,
        /// Nobody answered in time.
        EXPIRED,
        /// The run ended before somebody answered.
        CANCELLED;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Status> find(String text) {
            return Arrays.stream(values())
                    .filter(status -> status.text().equals(text))
                    .findFirst();
        }
    }

    public boolean isPending() {
        return status == Status.PENDING;
    }
}
