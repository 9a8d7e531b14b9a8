package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.TextEnum;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Last action of the guardian about the findings of one rule. Immutable.
///
/// @param seq    newest step at that time
/// @param review id of the review that asks a person
record Rung(
        String rule,
        Position position,
        Instant at,
        long seq,
        Optional<String> review,
        String summary,
        List<Long> evidence) {
    /// New events of a pattern that show that it goes on. One call may have been under way during the action.
    private static final int CONTINUED_EVENTS = 2;

    enum Position implements TextEnum {
        OBSERVED,
        NUDGED,
        /// The run is paused, and a person is asked.
        ASKED,
        /// A person decided that the run continues.
        CONTINUED,
        /// The pattern ended.
        ENDED,
        STOPPED
    }

    Rung {
        evidence = List.copyOf(evidence);
    }

    static Rung of(Finding finding, Position position, Instant now, long seq) {
        return new Rung(finding.rule(), position, now, seq, Optional.empty(), finding.summary(), finding.evidence());
    }

    Rung moved(Position other, Instant now, long newest) {
        return new Rung(rule, other, now, newest, review, summary, evidence);
    }

    Rung withReview(String id) {
        return new Rung(rule, position, at, seq, Optional.of(id), summary, evidence);
    }

    /// Reports whether a finding of the rule goes on after this action.
    boolean isContinuedBy(Finding finding) {
        return finding.rule().equals(rule)
                && finding.evidence().stream().filter(event -> event > seq).count() >= CONTINUED_EVENTS;
    }

    GuardianEvent.Pattern pattern() {
        return new GuardianEvent.Pattern(rule, summary, evidence);
    }
}
