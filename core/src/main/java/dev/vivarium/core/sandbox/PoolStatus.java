package dev.vivarium.core.sandbox;

/// Usage of the capacity and of the pool. Immutable.
///
/// @param target     configured size of the pool
/// @param available  machines that can be handed out now
/// @param active     sandboxes of threads with a machine, including those in creation
/// @param hibernated sandboxes with a disk and no machine
/// @param capacity   maximum number of active sandboxes
public record PoolStatus(int target, int available, int active, int hibernated, int capacity) {}
