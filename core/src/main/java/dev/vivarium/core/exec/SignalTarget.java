package dev.vivarium.core.exec;

/// Whom a signal is for.
public enum SignalTarget {
    /// The process alone.
    PROCESS,
    /// The process and all its descendants, also those that detached themselves.
    TREE
}
