package dev.vivarium.model;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Events of the lifecycle of a sandbox. Immutable.
public sealed interface SandboxEvent extends EventBody {
    /// Type of the last event of a sandbox.
    String TERMINATED = "sandbox.terminated";

    /// @param origin `warm` or `cold`
    record Started(ThreadId thread, UserId user, String origin, Duration took) implements SandboxEvent {}

    record Paused(String reason, String detail) implements SandboxEvent {}

    record Resumed(String reason, String detail) implements SandboxEvent {}

    /// The sandbox has no process and keeps its disk until `keptUntil`.
    record Hibernated(String reason, String detail, Instant keptUntil) implements SandboxEvent {}

    /// The sandbox was started again on its disk.
    record Woken(Duration took) implements SandboxEvent {}

    /// The server reached the sandbox again, after a restart or a lost connection.
    record Recovered(String how) implements SandboxEvent {}

    record Terminated(End.Cause cause, Optional<String> detail) implements SandboxEvent {}

    /// Resource usage. The CPU usage is in percent of one CPU.
    record Metrics(
            double cpuPercent,
            double cpuLimitPercent,
            long memoryBytes,
            long memoryLimitBytes,
            long processes,
            long processesLimit,
            long diskBytes,
            long diskLimitBytes,
            long oomKills)
            implements SandboxEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Started _ -> "sandbox.started";
            case Paused _ -> "sandbox.paused";
            case Resumed _ -> "sandbox.resumed";
            case Hibernated _ -> "sandbox.hibernated";
            case Woken _ -> "sandbox.woken";
            case Recovered _ -> "sandbox.recovered";
            case Terminated _ -> TERMINATED;
            case Metrics _ -> "sandbox.metrics";
        };
    }
}
