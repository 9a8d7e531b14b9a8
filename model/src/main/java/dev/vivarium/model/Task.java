package dev.vivarium.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Something that an agent was asked to do, and what became of it. Immutable.
///
/// @param message what was last said about its status
/// @param result what the agent handed in, a JSON object as text
public record Task(
        TaskId id,
        UserId owner,
        NewTask wanted,
        Status status,
        Optional<String> message,
        Optional<String> result,
        Instant createdAt,
        Instant updatedAt) {
    /// How far it is.
    public enum Status {
        PENDING,
        IN_PROGRESS,
        BLOCKED,
        COMPLETED,
        FAILED;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Status> find(String text) {
            return Arrays.stream(values())
                    .filter(status -> status.text().equals(text))
                    .findFirst();
        }
    }
}
