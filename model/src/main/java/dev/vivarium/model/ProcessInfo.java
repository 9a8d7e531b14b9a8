package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// A process that was started through the server: what it is, who started it, and how it is or has ended. `id` is the
/// server's name for it, which no later process has; `pid` is its number inside the sandbox. Immutable.
public record ProcessInfo(
        String id,
        int pid,
        String command,
        Kind kind,
        String who,
        Instant startedAt,
        State state,
        Optional<Exit> exit) {
    /// How it was started.
    public enum Kind {
        /// Somebody waits for its result.
        EXEC,
        /// Nobody waits; its last output is kept.
        DETACHED,
        /// On a terminal.
        SHELL
    }

    /// How it is.
    public enum State {
        RUNNING,
        EXITED,
        /// The wire broke; whether it still runs is not known.
        LOST
    }
}
