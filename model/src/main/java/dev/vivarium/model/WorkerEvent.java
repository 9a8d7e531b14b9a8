package dev.vivarium.model;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.Set;

/// Events of workers that change the run. Their data can have more fields. Immutable.
public sealed interface WorkerEvent extends EventBody {
    /// Type of [UsageReported].
    String USAGE = "agent.usage";

    Set<String> TYPES = Set.of("agent.tool_use", USAGE, "agent.transcript", "agent.completed", "agent.failed");

    /// The agent used a tool.
    record ToolUsed() implements WorkerEvent {}

    /// Total usage of the run, as the program counts it.
    record UsageReported(long inputTokens, long outputTokens, BigDecimal costUsd) implements WorkerEvent {}

    /// Name under which the agent's conversation is stored.
    record ConversationNamed(String session) implements WorkerEvent {}

    /// The agent judges that it completed its task. The run continues until the worker exits.
    record Completed(String summary) implements WorkerEvent {}

    /// The agent judges that it failed. The run continues until the worker exits.
    ///
    /// @param code    machine-readable reason
    /// @param costUsd cost of the run; the server sets it
    record Failed(String reason, Optional<String> code, Optional<BigDecimal> costUsd) implements WorkerEvent {}

    @Override
    default String type() {
        return switch (this) {
            case ToolUsed _ -> "agent.tool_use";
            case UsageReported _ -> USAGE;
            case ConversationNamed _ -> "agent.transcript";
            case Completed _ -> "agent.completed";
            case Failed _ -> "agent.failed";
        };
    }
}
