package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/// Rule of the guardian. Implementations are stateless.
sealed interface Rule
        permits RepeatedFailure, Oscillation, RepeatedError, UncheckedEdits, NoProgress, ConstraintViolations, Burn {
    /// All rules, the most specific first.
    List<Rule> ALL = List.of(
            new ConstraintViolations(),
            new RepeatedFailure(),
            new Oscillation(),
            new RepeatedError(),
            new UncheckedEdits(),
            new NoProgress(),
            new Burn());

    /// Name of the rule in events.
    String name();

    Verdict examine(Trajectory trajectory, Instant now);

    /// Returns the findings of all rules.
    static List<Finding> findings(Trajectory trajectory, Instant now) {
        return ALL.stream()
                .map(rule -> rule.examine(trajectory, now))
                .flatMap(verdict -> switch (verdict) {
                    case Verdict.Healthy _ -> Stream.<Finding>empty();
                    case Verdict.Unhealthy(Finding finding) -> Stream.of(finding);
                })
                .toList();
    }
}
