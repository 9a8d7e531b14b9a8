package dev.vivarium.core.task;

/// Limits of the tasks that the orchestrator runs at a time: in all, of one user, and of one agent type. Zero means no
/// limit. Immutable.
public record TaskLimits(int all, int perUser, int perAgentType) {}
