package dev.vivarium.model;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Events of the server's supervision of workers: heartbeats, restarts and idle runs. Immutable.
public sealed interface LivenessEvent extends EventBody {
    String TERMINATED_IDLE = "sandbox.terminated_idle";
    String QUARANTINED = "sandbox.quarantined";

    /// The worker missed its first heartbeat.
    record HeartbeatMissed(RunId run, Instant lastHeartbeatAt) implements LivenessEvent {}

    /// The worker missed two heartbeats, and the server examined its sandbox.
    ///
    /// @param guest   whether the guest of the sandbox replied
    /// @param worker  state of the worker process, such as `stopped` or `gone`; `unknown` without a guest
    /// @param channel kernel function in which the worker waits
    record Probed(
            RunId run,
            boolean guest,
            String worker,
            Optional<String> channel,
            int children,
            long memoryBytes,
            long diskBytes,
            long diskFreeBytes,
            long oomKills)
            implements LivenessEvent {}

    /// The server stored a bundle with the state of a run that ended abnormally.
    record ForensicsCollected(RunId run, long bytes) implements LivenessEvent {}

    /// A run continues the task of a run that ended abnormally, in a new sandbox.
    ///
    /// @param files        whether the new sandbox has a copy of the files
    /// @param conversation whether the agent resumes its conversation
    record Restarted(
            RunId run,
            TaskId task,
            String reasonCode,
            RunId nextRun,
            SandboxId nextSandbox,
            boolean files,
            boolean conversation)
            implements LivenessEvent {}

    /// The task was restarted too often. The sandbox is frozen until `keptUntil`.
    record Quarantined(RunId run, TaskId task, String reason, Instant keptUntil) implements LivenessEvent {}

    /// The run was alive and did no work, so the server ended the sandbox.
    record TerminatedIdle(RunId run, TaskId task, Instant lastWorkAt, Duration idle) implements LivenessEvent {}

    @Override
    default String type() {
        return switch (this) {
            case HeartbeatMissed _ -> "sandbox.heartbeat_missed";
            case Probed _ -> "sandbox.probed";
            case ForensicsCollected _ -> "sandbox.forensics_collected";
            case Restarted _ -> "sandbox.restarted";
            case Quarantined _ -> QUARANTINED;
            case TerminatedIdle _ -> TERMINATED_IDLE;
        };
    }
}
