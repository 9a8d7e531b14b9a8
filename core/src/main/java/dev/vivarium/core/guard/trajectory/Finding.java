package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.GuardianEvent;
import java.util.List;

/// Pattern that a rule found in a trajectory. Immutable.
///
/// @param rule     name of the rule
/// @param severity how far the guardian may go
/// @param summary  what was seen, a sentence without a full stop
/// @param advice   next step for the agent, a sentence
/// @param evidence numbers of the events, newest last
record Finding(String rule, Severity severity, String summary, String advice, List<Long> evidence) {
    /// How far the guardian may go.
    enum Severity {
        /// A message is enough.
        ADVICE,
        /// The guardian may pause or stop the run.
        SERIOUS
    }

    Finding {
        evidence = List.copyOf(evidence);
    }

    long lastSeq() {
        return evidence.isEmpty() ? 0 : evidence.getLast();
    }

    GuardianEvent.Pattern pattern() {
        return new GuardianEvent.Pattern(rule, summary, evidence);
    }
}
