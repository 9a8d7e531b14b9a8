package dev.vivarium.cli.tty;

import java.util.Optional;

/// How a visit to a shell ended. Immutable.
public sealed interface Ending {
    record Exited(int code) implements Ending {}

    /// The shell goes on without us.
    record Left(Optional<String> session) implements Ending {}
}
