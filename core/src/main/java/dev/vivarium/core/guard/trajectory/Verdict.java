package dev.vivarium.core.guard.trajectory;

import java.util.Optional;

/// Result of a rule. Immutable.
sealed interface Verdict {
    /// The rule found nothing.
    record Healthy() implements Verdict {}

    /// The rule found a pattern.
    record Unhealthy(Finding finding) implements Verdict {}

    Verdict HEALTHY = new Healthy();

    static Verdict of(Optional<Finding> finding) {
        return finding.<Verdict>map(Unhealthy::new).orElse(HEALTHY);
    }
}
