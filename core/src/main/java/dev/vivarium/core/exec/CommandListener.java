package dev.vivarium.core.exec;

/// Listener to started commands, which returns the listener to the output of each. Thread-safe. Called outside locks;
/// must not throw.
@FunctionalInterface
public interface CommandListener {
    OutputListener announce(CommandStarted commandStarted);
}
