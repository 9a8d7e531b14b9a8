package dev.vivarium.core.watch;

import java.time.Instant;

/// What a sandbox used when it was last looked at. Immutable.
///
/// @param cpuPercent of one processor, since the look before
public record UsageSample(Instant at, double cpuPercent, long memoryBytes) {}
