package dev.vivarium.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Something said to the agent in a sandbox. Immutable.
public record Message(String id, String content, Kind kind, Mode mode, String source, Instant at) {
    public static final int LONGEST = 10 * 1024;

    /// What it is to the agent.
    public enum Kind {
        USER_MESSAGE,
        /// Stop what you do; overtakes all others.
        INTERRUPT,
        GUARDIAN_NUDGE,
        SYSTEM,
        GUIDANCE;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Kind> find(String text) {
            return Arrays.stream(values())
                    .filter(kind -> kind.text().equals(text))
                    .findFirst();
        }
    }

    /// When the agent is to read it.
    public enum Mode {
        /// Before its next tool call.
        IMMEDIATE,
        /// When it has ended the turn that it is in. An interrupt ends that itself.
        NEXT_TURN;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Mode> find(String text) {
            return Arrays.stream(values())
                    .filter(mode -> mode.text().equals(text))
                    .findFirst();
        }
    }
}
