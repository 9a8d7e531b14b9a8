package dev.vivarium.model;

import java.time.Duration;
import java.util.Optional;

/// Events of commands and shells. Immutable.
public sealed interface CommandEvent extends EventBody {
    /// Type of [Started].
    String STARTED = "command.started";

    /// Type of [Completed].
    String COMPLETED = "command.completed";

    /// Type of [Output].
    String OUTPUT = "command.output";

    /// The command that an event concerns.
    ///
    /// @param process id of a detached process
    /// @param session id of a shell session
    record Target(int pid, Optional<String> process, Optional<String> session) {}

    /// @param line command line, possibly truncated
    record Started(Target target, ProcessInfo.Kind kind, String line) implements CommandEvent {}

    /// Output since the previous event.
    ///
    /// @param omittedBytes number of bytes that the event does not contain
    record Output(Target target, Text stdout, Text stderr, long omittedBytes) implements CommandEvent {}

    /// Output of one stream.
    ///
    /// @param end number of bytes that the stream has had up to this event. Only commands that the guest keeps have
    /// it
    record Text(Optional<String> text, Optional<Long> end) {
        public static final Text NONE = new Text(Optional.empty(), Optional.empty());
    }

    /// @param result empty if the client left before the command ended
    record Completed(Target target, Exit.Cause cause, Optional<Result> result) implements CommandEvent {}

    record Result(int exitCode, Duration took, long stdoutBytes, long stderrBytes) {}

    Target target();

    @Override
    default String type() {
        return switch (this) {
            case Started _ -> STARTED;
            case Output _ -> OUTPUT;
            case Completed _ -> COMPLETED;
        };
    }
}
