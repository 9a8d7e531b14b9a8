package dev.vivarium.model;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/// Events of agent runs that the server appends. Immutable.
public sealed interface RunEvent extends EventBody {
    record Started(RunId run, TaskId task, Run.Runtime runtime) implements RunEvent {}

    /// @param code the reason as a word, if it has one
    record Ended(RunId run, TaskId task, Run.Status status, Optional<String> reason, Optional<String> code, Total total)
            implements RunEvent {}

    record Total(BigDecimal costUsd, long tokens, long toolCalls) {}

    /// The agent calls a model through the gateway.
    record ModelCallStarted(String model) implements RunEvent {}

    /// The agent called a model through the gateway.
    ///
    /// @param status HTTP status of the response to the agent
    record ModelCalled(Usage usage, Duration took, int status, boolean estimated) implements RunEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Started _ -> "sandbox.run_started";
            case Ended _ -> "sandbox.run_ended";
            case ModelCallStarted _ -> "agent.model_call_started";
            case ModelCalled _ -> "agent.model_call";
        };
    }
}
