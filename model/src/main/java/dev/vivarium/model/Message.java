package dev.vivarium.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Something said to the agent in a sandbox. Immutable.
public record Message(String id, String content, Kind kind, String source, Instant at) {
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
}
