package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.Map;

/// Finds a file that changes many times without a passing check. Stateless.
///
/// A task may have no check, such as a text. The limit is therefore lower if a call has failed since the last check.
record UncheckedEdits() implements Rule {
    static final int AFTER_FAILURE = 12;
    static final int WITHOUT_FAILURE = 25;

    @Override
    public String name() {
        return "unchecked_edits";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        int max = trajectory.counters.failedSinceCheck > 0 ? AFTER_FAILURE : WITHOUT_FAILURE;
        return Verdict.of(trajectory.files.all().entrySet().stream()
                .filter(file -> file.getValue().edits() >= max)
                .max(Map.Entry.comparingByValue((one, other) -> Long.compare(one.lastSeq(), other.lastSeq())))
                .map(file -> new Finding(
                        name(),
                        Finding.Severity.SERIOUS,
                        "the file `" + Excerpt.of(file.getKey(), 100) + "` changed "
                                + file.getValue().edits() + " times without a passing check",
                        "Run the tests or the build now. If they fail, undo the last changes and make a smaller one.",
                        file.getValue().seqs())));
    }
}
