package dev.vivarium.core.exec;

/// Listener to started commands, which returns the listener to the output of each. Thread-safe. Called outside locks;
/// must not throw.
@FunctionalInterface
public interface CommandListener {
    /// Listens to no output.
    CommandListener NONE = _ -> OutputListener.NONE;

    OutputListener announce(CommandStarted commandStarted);
}
