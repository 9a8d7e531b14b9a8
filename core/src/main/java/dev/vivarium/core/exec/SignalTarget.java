package dev.vivarium.core.exec;

/// Receivers of a signal. Immutable.
public enum SignalTarget {
    /// The process alone.
    PROCESS,
    /// The process and all its descendants, including daemonized ones.
    TREE
}
