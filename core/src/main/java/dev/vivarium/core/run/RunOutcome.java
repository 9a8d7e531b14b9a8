package dev.vivarium.core.run;

import dev.vivarium.model.TextEnum;
import java.util.Optional;

/// Judgement of an agent about its own run. Immutable.
///
/// @param text summary, or reason of the failure
/// @param code machine-readable reason
public record RunOutcome(Kind kind, String text, String code) {
    static RunOutcome completed(String summary) {
        return new RunOutcome(Kind.COMPLETED, TextLimits.kept(summary), ReasonCode.COMPLETED);
    }

    static RunOutcome failed(String reason, Optional<String> code) {
        return new RunOutcome(Kind.FAILED, TextLimits.kept(reason), ReasonCode.reported(code));
    }

    public enum Kind implements TextEnum {
        COMPLETED,
        FAILED
    }
}
