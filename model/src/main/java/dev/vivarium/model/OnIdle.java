package dev.vivarium.model;

/// Result of the idle timeout of a sandbox. Immutable.
public enum OnIdle implements TextEnum {
    /// The sandbox ends, and its disk is deleted.
    END,
    /// The sandbox hibernates: it has no process and keeps its disk, and the next call starts it again.
    HIBERNATE
}
