package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.Run;
import dev.vivarium.model.TaskConstraints;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// The part of a trajectory that does not change: the limits of the run. Immutable.
///
/// @param budgetNanos budget in billionths of a dollar
/// @param timeLimit   limit of the task or of the attempt
record RunLimits(
        Instant startedAt,
        Run.Runtime runtime,
        Optional<Long> budgetNanos,
        Optional<Duration> timeLimit,
        TaskConstraints constraints) {}
