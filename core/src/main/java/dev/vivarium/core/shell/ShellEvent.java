package dev.vivarium.core.shell;

import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import java.util.List;

/// Event of a viewer, in order. Nothing follows a last event. Immutable.
public sealed interface ShellEvent {
    /// Whole characters. Invalid UTF-8 is replaced.
    record Output(String text) implements ShellEvent {}

    /// Number of bytes that are missing: the viewer was too slow, or the bytes were lost.
    record Missed(long bytes) implements ShellEvent {}

    record Presence(List<Participant> people) implements ShellEvent {
        public Presence {
            people = List.copyOf(people);
        }
    }

    /// The terminal has this size from here on.
    record Resized(TerminalSize size) implements ShellEvent {}

    /// The process exited. Last event.
    record Exited(Exit exit) implements ShellEvent {}

    /// The shell is permanently unreachable, for example because its sandbox ended. Last event.
    record Gone(Failure failure) implements ShellEvent {}

    /// The viewer was closed. Last event.
    record Left() implements ShellEvent {}

    /// Reports the end of the shell to the listener.
    default void reportTo(OutputListener outputListener) {
        if (this instanceof Exited(Exit exit)) {
            outputListener.exited(exit);
        } else {
            outputListener.lost();
        }
    }
}
