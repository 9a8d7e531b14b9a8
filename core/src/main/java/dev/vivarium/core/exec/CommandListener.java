package dev.vivarium.core.exec;

/// Is told of each command that begins, and says who is to hear it. Called outside locks; must not throw.
@FunctionalInterface
public interface CommandListener {
    /// For commands that nobody hears but their readers.
    CommandListener NONE = _ -> OutputListener.NOBODY;

    OutputListener announce(CommandStarted commandStarted);
}
