package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.Comparator;

/// Finds an error that different calls report, without a passing check in between. Stateless.
record RepeatedError() implements Rule {
    static final int ERRORS = 7;

    @Override
    public String name() {
        return "repeated_error";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        return Verdict.of(trajectory.errors.all().values().stream()
                .filter(tally -> tally.count() >= ERRORS)
                .max(Comparator.comparingLong(Tally::lastSeq))
                .map(tally -> new Finding(
                        name(),
                        Finding.Severity.SERIOUS,
                        "the error `" + tally.text() + "` occurred " + tally.count() + " times",
                        "Find the cause of this error first. Your attempts so far did not change it.",
                        tally.seqs())));
    }
}
