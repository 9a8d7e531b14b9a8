package dev.vivarium.core.door;

/// Takes the connections that come through doors. Thread-safe.
@FunctionalInterface
public interface Porter {
    /// Serves one connection to its end, in a worker of its own. It is closed when this returns.
    void serve(Visit visit);
}
