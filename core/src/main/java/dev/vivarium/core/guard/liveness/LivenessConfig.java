package dev.vivarium.core.guard.liveness;

import java.nio.file.Path;
import java.time.Duration;

/// Settings of the supervision of workers. Immutable.
public record LivenessConfig(Idle idle, Heartbeats heartbeats, Bundles bundles) {
    /// @param threshold time without work after which a run is idle
    /// @param every     interval of the check
    public record Idle(boolean isEnabled, Duration threshold, Duration every) {}

    /// @param beat     interval of the heartbeats of a worker
    /// @param every    interval of the check
    /// @param restarts maximum number of restarts of a task within thirty minutes; zero for none
    public record Heartbeats(Duration beat, Duration every, int restarts) {}

    /// @param directory  directory of the forensics
    /// @param kept       retention
    /// @param totalBytes maximum size of all bundles
    public record Bundles(Path directory, Duration kept, long totalBytes) {}
}
