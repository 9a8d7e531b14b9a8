package dev.vivarium.core.exec;

/// Listener to started commands. It returns the listener to the output of each. Called outside locks; must not throw.
@FunctionalInterface
public interface CommandListener {
    /// Listens to no output.
    CommandListener NONE = _ -> OutputListener.NOBODY;

    OutputListener announce(CommandStarted commandStarted);
}
