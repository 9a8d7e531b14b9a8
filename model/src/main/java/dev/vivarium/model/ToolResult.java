package dev.vivarium.model;

/// Result of a tool call, as the worker of the agent reports it. Immutable.
///
/// @param id      id of the call
/// @param failed  whether the tool reports an error, or its command exited with another code than zero
/// @param content text that the agent reads
public record ToolResult(String id, boolean failed, String content) {}
