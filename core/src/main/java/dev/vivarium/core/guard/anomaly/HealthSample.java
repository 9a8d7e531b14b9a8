package dev.vivarium.core.guard.anomaly;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Figures about the queue, the runs and the store at one time. Immutable.
///
/// @param queueDepth   number of tasks that are ready and wait for their run
/// @param oldestReady  time that the oldest of them has waited
/// @param runsEnded    number of runs that ended in the last hour, completed or failed
/// @param failureRate  share of failed runs among them, 0 to 1
/// @param storeLatency duration of one transaction
public record HealthSample(
        Instant at,
        long queueDepth,
        Optional<Duration> oldestReady,
        long runsEnded,
        double failureRate,
        Duration storeLatency) {}
