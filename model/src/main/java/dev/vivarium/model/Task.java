package dev.vivarium.model;

import java.time.Instant;
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
    public enum Status implements TextEnum {
        PENDING,
        IN_PROGRESS,
        BLOCKED,
        COMPLETED,
        FAILED;

        public static Optional<Status> find(String text) {
            return TextEnum.find(values(), text);
        }
    }
}
