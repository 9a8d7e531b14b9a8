package dev.vivarium.core.exec;

/// Is told of each command that begins, and says who is to hear it. Called outside locks; must not throw.
@FunctionalInterface
public interface Herald {
    /// For commands that nobody hears but their readers.
    Herald NONE = _ -> Audience.NOBODY;

    Audience announce(Beginning beginning);
}
