package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Money;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Finds a budget or a time limit that will not last. The server enforces both limits, so that the rule only advises.
/// Stateless.
record Burn() implements Rule {
    static final double WARNING_SHARE = 0.8;
    private static final double EARLY = 0.25;
    private static final double TOO_FAST = 1.5;

    @Override
    public String name() {
        return "burn";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        return Verdict.of(budget(trajectory, now).or(() -> time(trajectory, now)));
    }

    private Optional<Finding> budget(Trajectory trajectory, Instant now) {
        return trajectory.runLimits.budgetNanos().filter(budget -> budget > 0).flatMap(budget -> {
            long cost = trajectory.counters.costNanos;
            double used = (double) cost / budget;
            String spent = Money.text(Money.dollars(cost)) + " of " + Money.text(Money.dollars(budget));
            if (used >= WARNING_SHARE) {
                return Optional.of(finding("the run has spent " + spent, trajectory));
            }
            double elapsed = share(trajectory, now);
            return used >= EARLY && elapsed > 0 && used / elapsed > TOO_FAST
                    ? Optional.of(finding(
                            "the run has spent " + spent + " in " + percent(elapsed) + " of its time", trajectory))
                    : Optional.empty();
        });
    }

    private Optional<Finding> time(Trajectory trajectory, Instant now) {
        double elapsed = share(trajectory, now);
        return elapsed >= WARNING_SHARE
                ? Optional.of(finding("the run has used " + percent(elapsed) + " of its time", trajectory))
                : Optional.empty();
    }

    /// Returns the used share of the time limit, or zero without a limit.
    private static double share(Trajectory trajectory, Instant now) {
        return trajectory
                .runLimits
                .timeLimit()
                .map(limit ->
                        (double) Duration.between(trajectory.startedAt(), now).toMillis() / limit.toMillis())
                .orElse(0.0);
    }

    private static String percent(double share) {
        return Math.round(100 * share) + " %";
    }

    private Finding finding(String summary, Trajectory trajectory) {
        return new Finding(
                name(),
                Finding.Severity.ADVICE,
                summary,
                "Finish the most important part first, and report what is left.",
                List.of(Math.max(trajectory.counters.costSeq, trajectory.counters.seq)));
    }
}
