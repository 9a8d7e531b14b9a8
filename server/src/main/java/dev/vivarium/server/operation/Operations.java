package dev.vivarium.server.operation;

/// Operations of one server. Immutable.
public record Operations(
        CreateSandbox create,
        GetSandbox get,
        EndSandbox end,
        PauseSandbox pause,
        StartRun startRun,
        GetRun getRun,
        ThreadSnapshots snapshots,
        RunCommand commands,
        SendMessage messages,
        ListFiles files,
        ReadTerminal terminal) {}
