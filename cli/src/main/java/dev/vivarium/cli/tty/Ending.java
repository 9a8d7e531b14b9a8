package dev.vivarium.cli.tty;

import java.util.Optional;

/// End of a shell session. Immutable.
public sealed interface Ending {
    record Exited(int code) implements Ending {}

    /// The user detached; the shell continues.
    record Left(Optional<String> session) implements Ending {}
}
