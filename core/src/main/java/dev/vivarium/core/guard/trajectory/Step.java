package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import java.time.Instant;
import java.util.Optional;

/// Contribution of one event to a trajectory. Immutable.
sealed interface Step {
    /// Number of the event.
    long seq();

    Instant at();

    /// The agent called a tool, or its program started a process.
    record Called(long seq, Instant at, ToolCall call) implements Step {}

    /// The tool returned, or the process exited.
    record Returned(long seq, Instant at, ToolResult result) implements Step {}

    /// The agent reports a problem that belongs to no call.
    record Problem(long seq, Instant at, String text) implements Step {}

    /// A file of the workspace changed.
    ///
    /// @param isNew   whether the file did not exist before
    /// @param version hash of the content
    record Changed(long seq, Instant at, String path, boolean isNew, Optional<String> version) implements Step {}

    /// The agent called a model.
    record Modelled(long seq, Instant at, long costNanos) implements Step {}

    /// The agent reported its cost so far.
    record Charged(long seq, Instant at, long totalNanos) implements Step {}

    /// A person sent a message, answered a review or resumed the sandbox.
    record Guided(long seq, Instant at) implements Step {}
}
