package dev.vivarium.core.run;

import java.util.Locale;

/// Judgement of an agent about its own run. Immutable.
///
/// @param text summary, or reason of the failure
public record RunOutcome(Kind kind, String text) {
    public enum Kind {
        COMPLETED,
        FAILED;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }
}
