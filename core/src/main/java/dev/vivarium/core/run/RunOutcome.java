package dev.vivarium.core.run;

import dev.vivarium.model.TextEnum;
import java.util.Locale;

/// What an agent said of how its run went. Immutable.
///
/// @param text its summary, or the reason why it failed
public record RunOutcome(Kind kind, String text) {
    /// How it went.
    public enum Kind implements TextEnum {
        COMPLETED,
        FAILED;

        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }
}
