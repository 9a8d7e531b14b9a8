package dev.vivarium.model;

import java.time.Duration;

/// Events of processes that a program in a sandbox started, as the kernel reports them. They have the types of command
/// events and the `kind` `process`. Immutable.
public sealed interface ProcessEvent extends EventBody {
    /// `kind` of these events.
    String KIND = "process";

    /// Type of [Folded].
    String FOLDED = "command.processes_folded";

    /// @param pid  process id in the sandbox
    /// @param line command line, possibly truncated
    record Started(int pid, String line) implements ProcessEvent {}

    /// @param exitCode code that a shell would report
    record Completed(int pid, Exit.Cause cause, int exitCode, Duration took) implements ProcessEvent {}

    /// Processes that started and have no events of their own.
    record Folded(int processes) implements ProcessEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Started _ -> CommandEvent.STARTED;
            case Completed _ -> CommandEvent.COMPLETED;
            case Folded _ -> FOLDED;
        };
    }
}
