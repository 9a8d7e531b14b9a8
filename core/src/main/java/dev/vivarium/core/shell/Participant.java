package dev.vivarium.core.shell;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// User connected to a shell, with their role. Immutable.
public record Participant(UserId user, Role role, Instant since) {
    public enum Role {
        /// Receives the output and sends input.
        TYPIST,
        /// Receives the output only.
        WATCHER
    }
}
