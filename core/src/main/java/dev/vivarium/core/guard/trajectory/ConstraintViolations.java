package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.Comparator;

/// Finds steps outside of the constraints of the task: paths, tools and hosts. Stateless.
record ConstraintViolations() implements Rule {
    @Override
    public String name() {
        return "left_constraints";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        return Verdict.of(trajectory.violations.all().values().stream()
                .max(Comparator.comparingLong(Tally::lastSeq))
                .map(tally -> new Finding(
                        name(),
                        Finding.Severity.SERIOUS,
                        tally.text() + (tally.count() > 1 ? ", " + tally.count() + " times" : ""),
                        "Stay within the constraints of the task, and undo this step. If you need more, request a review.",
                        tally.seqs())));
    }
}
