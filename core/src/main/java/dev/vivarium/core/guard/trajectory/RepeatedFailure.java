package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.Comparator;

/// Finds a call that fails again and again. Stateless.
///
/// A call that fails in another way after a change of a file starts to count anew. Processes of a program have a higher
/// limit, because a script may wait for something in a loop.
record RepeatedFailure() implements Rule {
    static final int CALLS = 5;
    static final int PROCESSES = 20;

    @Override
    public String name() {
        return "repeated_failure";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        return Verdict.of(trajectory.failures.all().values().stream()
                .filter(tally -> tally.count() >= threshold(tally))
                .max(Comparator.comparingLong(Tally::lastSeq))
                .map(tally -> new Finding(
                        name(),
                        Finding.Severity.SERIOUS,
                        "the call `" + tally.text() + "` failed " + tally.count() + " times in a row",
                        "Do not call it again. Read the error, and change the cause or choose another way.",
                        tally.seqs())));
    }

    private static int threshold(Tally tally) {
        return tally.mark().equals(Steps.PROCESS) ? PROCESSES : CALLS;
    }
}
