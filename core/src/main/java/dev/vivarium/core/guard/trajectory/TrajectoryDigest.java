package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Money;
import dev.vivarium.model.NewTask;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Compact trajectory for a model. All texts come from the agent or its user, and have a bounded length. Immutable.
///
/// @param calls  newest calls, oldest first
/// @param errors errors since the last passing check
/// @param files  changed files
public record TrajectoryDigest(
        String title,
        String description,
        String constraints,
        Totals totals,
        List<Step> calls,
        List<String> errors,
        List<String> files) {
    private static final int TITLE = 500;
    private static final int DESCRIPTION = 4000;
    private static final int CONSTRAINTS = 1000;

    public record Totals(
            Duration elapsed, long calls, long failedCalls, long callsWithoutProgress, BigDecimal costUsd) {}

    /// @param outcome `passed`, `failed` or `open`
    public record Step(long seq, String call, String outcome) {}

    public TrajectoryDigest {
        calls = List.copyOf(calls);
        errors = List.copyOf(errors);
        files = List.copyOf(files);
    }

    static TrajectoryDigest of(Trajectory trajectory, NewTask task, Instant now) {
        Counters counters = trajectory.counters;
        return new TrajectoryDigest(
                Excerpt.of(task.title(), TITLE),
                Excerpt.of(task.description(), DESCRIPTION),
                Excerpt.of(task.constraints(), CONSTRAINTS),
                new Totals(
                        Duration.between(trajectory.startedAt(), now),
                        counters.calls,
                        counters.failedCalls,
                        counters.callsIdle,
                        Money.dollars(counters.costNanos)),
                trajectory.calls.stream()
                        .map(call ->
                                new Step(call.seq(), call.text(), call.outcome().text()))
                        .toList(),
                trajectory.errors.all().values().stream().map(Tally::text).toList(),
                List.copyOf(trajectory.files.all().keySet()));
    }
}
