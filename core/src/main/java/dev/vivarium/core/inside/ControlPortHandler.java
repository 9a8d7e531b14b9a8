package dev.vivarium.core.inside;

/// Handler of connections from inside sandboxes. Thread-safe.
@FunctionalInterface
public interface ControlPortHandler {
    /// Serves one connection until it ends, in a thread of its own. The connection closes when this method returns.
    void serve(InsideConnection connection);
}
