package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Review;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Facts for a decision of the guardian about a run. Immutable.
///
/// @param findings of the rules, the most specific first
/// @param seq      newest step of the run
/// @param review   the review that the guardian requested, if it waits for one
record DecisionInput(GuardianPolicy policy, List<Finding> findings, long seq, Optional<Review> review, Instant now) {
    DecisionInput {
        findings = List.copyOf(findings);
    }
}
