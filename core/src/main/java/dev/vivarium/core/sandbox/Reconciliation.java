package dev.vivarium.core.sandbox;

/// Counts of the reconciler since the start. Immutable.
///
/// @param orphans removed machines that had no owner
public record Reconciliation(long passes, long orphans) {}
