package dev.vivarium.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Task of an agent, with its status and result. Immutable.
///
/// @param message last message about the status
/// @param result  result of the agent, a JSON object as text
public record Task(
        TaskId id,
        UserId owner,
        NewTask wanted,
        Status status,
        Optional<String> message,
        Optional<String> result,
        Instant createdAt,
        Instant updatedAt) {
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
