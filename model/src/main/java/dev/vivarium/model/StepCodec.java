package dev.vivarium.model;

import java.util.Optional;

/// Reader of the JSON texts that agents and tasks contain. It never fails: unknown fields and wrong types are ignored.
/// Implementations are thread-safe.
public interface StepCodec {
    /// Reads the data of `agent.tool_use`.
    Optional<ToolCall> call(String data);

    /// Reads the data of `agent.tool_result`.
    Optional<ToolResult> result(String data);

    /// Reads the text of `agent.error`.
    Optional<String> problem(String data);

    /// Reads the constraints of a task.
    TaskConstraints constraints(String constraints);

    /// Reads the address of the repository from the context of a task.
    Optional<String> repository(String context);
}
