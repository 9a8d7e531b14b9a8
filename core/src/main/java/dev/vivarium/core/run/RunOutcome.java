package dev.vivarium.core.run;

import dev.vivarium.model.TextEnum;
import java.util.Locale;

/// Judgement of an agent about its own run. Immutable.
///
/// @param text summary, or reason of the failure
public record RunOutcome(Kind kind, String text) {
    public enum Kind implements TextEnum {
        COMPLETED,
        FAILED;

        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }
}
