package dev.vivarium.core.inside;

/// Takes the connections that come through doors. Thread-safe.
@FunctionalInterface
public interface ControlPortHandler {
    /// Serves one connection to its end, in a worker of its own. It is closed when this returns.
    void serve(InsideConnection visit);
}
