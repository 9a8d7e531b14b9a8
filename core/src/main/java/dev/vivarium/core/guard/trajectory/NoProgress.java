package dev.vivarium.core.guard.trajectory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Finds work without progress: no new call passes, and no file gets new content. Stateless.
record NoProgress() implements Rule {
    static final int CALLS = 15;
    static final int MODEL_CALLS = 30;
    static final Duration TIME = Duration.ofMinutes(15);

    /// Model calls in [#TIME] that distinguish an agent that thinks from one that waits.
    static final int SOME_MODEL_CALLS = 5;

    @Override
    public String name() {
        return "no_progress";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        Counters counters = trajectory.counters;
        boolean isLong = Duration.between(counters.progressAt, now).compareTo(TIME) >= 0
                && counters.modelCallsIdle >= SOME_MODEL_CALLS;
        boolean isFound = counters.callsIdle >= CALLS || counters.modelCallsIdle >= MODEL_CALLS || isLong;
        return Verdict.of(isFound ? Optional.of(finding(trajectory)) : Optional.empty());
    }

    private Finding finding(Trajectory trajectory) {
        Counters counters = trajectory.counters;
        return new Finding(
                name(),
                Finding.Severity.SERIOUS,
                counters.callsIdle + " calls and " + counters.modelCallsIdle
                        + " model calls brought no new result and no new file content",
                "Say what blocks you. Then do the smallest step that changes something, or request a review.",
                evidence(trajectory));
    }

    private static List<Long> evidence(Trajectory trajectory) {
        List<Long> calls = trajectory.finished().stream()
                .map(Call::seq)
                .filter(seq -> seq > trajectory.counters.progressSeq)
                .toList();
        return calls.isEmpty()
                ? List.of(trajectory.counters.seq)
                : calls.subList(Math.max(0, calls.size() - Tally.SEQS), calls.size());
    }
}
