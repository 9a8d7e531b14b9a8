package dev.vivarium.model;

import java.time.Instant;

/// Message to the agent in a sandbox. Immutable.
public record Message(String id, String content, Kind kind, Mode mode, String source, Instant at) {
    public static final int LONGEST = 10 * 1024;

    public enum Kind implements TextEnum {
        USER_MESSAGE,
        /// Stops the current work of the agent. Overtakes all other messages.
        INTERRUPT,
        GUARDIAN_NUDGE,
        SYSTEM,
        GUIDANCE
    }

    /// When the agent reads the message.
    public enum Mode implements TextEnum {
        /// Before its next tool call.
        IMMEDIATE,
        /// After the current turn. An interrupt ends the turn itself.
        NEXT_TURN
    }
}
