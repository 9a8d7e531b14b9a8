package dev.vivarium.core.shell;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// Somebody who is in a shell, and what they may do there. Immutable.
public record Participant(UserId user, Role role, Instant since) {
    /// What somebody may do in a shell.
    public enum Role {
        /// Sees everything and types.
        TYPIST,
        /// Sees everything and types nothing.
        WATCHER
    }
}
