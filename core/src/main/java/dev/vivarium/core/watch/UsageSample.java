package dev.vivarium.core.watch;

import java.time.Instant;

/// Last resource usage sample of a sandbox. Immutable.
///
/// @param cpuPercent percent of one CPU since the previous sample
public record UsageSample(Instant at, double cpuPercent, long memoryBytes) {}
