package dev.vivarium.core.sandbox;

/// How full the house is. Immutable.
///
/// @param target    machines the pool would like to keep warm
/// @param available machines that could be handed out now
/// @param active    sandboxes that belong to a thread, those being created included
/// @param capacity  how many sandboxes there may be at most
public record PoolStatus(int target, int available, int active, int capacity) {}
