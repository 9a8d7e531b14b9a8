package dev.vivarium.model;

/// Failures of commands, processes and shells in a sandbox. Immutable.
public sealed interface CommandFailure extends Failure
        permits Failure.PolicyRefused,
                Failure.CannotRun,
                Failure.ProcessLimitReached,
                Failure.NoSuchProcess,
                Failure.ProcessEnded,
                Failure.TooManyCommands,
                CommandFailure.NoSuchShell {
    /// The sandbox has no shell with that id.
    record NoSuchShell(String sentence) implements CommandFailure {}
}
