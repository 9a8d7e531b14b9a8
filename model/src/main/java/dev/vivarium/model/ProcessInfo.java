package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Process that was started through the server. Immutable.
///
/// `id` is assigned by the server and never reused. `pid` is the process id inside the sandbox.
public record ProcessInfo(
        String id,
        int pid,
        String command,
        Kind kind,
        String who,
        Instant startedAt,
        State state,
        Optional<Exit> exit) {
    public enum Kind implements TextEnum {
        /// A client waits for its result.
        EXEC,
        /// No client waits. The server keeps its last output.
        DETACHED,
        /// On a terminal.
        SHELL
    }

    public enum State {
        RUNNING,
        EXITED,
        /// The connection broke; it is unknown whether the process still runs.
        LOST
    }
}
