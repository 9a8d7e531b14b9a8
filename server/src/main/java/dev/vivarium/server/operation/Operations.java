package dev.vivarium.server.operation;

/// The operations of one server. Immutable.
public record Operations(
        RunCommand commands, PauseSandbox pause, SendMessage messages, ListFiles files, ReadTerminal terminal) {}
