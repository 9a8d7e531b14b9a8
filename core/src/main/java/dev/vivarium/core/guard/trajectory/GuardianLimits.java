package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.GuardianPolicy;
import java.time.Duration;

/// Settings of the guardian. Immutable.
///
/// @param standard policy of runs without a policy of their own
/// @param interval time between two passes over all runs
/// @param cooldown minimum time between two actions on one run
/// @param nudges   maximum number of messages to one run
/// @param answer   time that a person has to answer before the policy `stop` stops the run
public record GuardianLimits(
        GuardianPolicy standard, Duration interval, Duration cooldown, int nudges, Duration answer) {}
