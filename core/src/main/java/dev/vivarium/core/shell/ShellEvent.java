package dev.vivarium.core.shell;

import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import java.util.List;

/// What a viewer of a shell hears, in order. After one that is the last there is nothing more. Immutable.
public sealed interface ShellEvent {
    /// Whole characters; what is not UTF-8 has been replaced.
    record Output(String text) implements ShellEvent {}

    /// So many bytes are not shown, because the viewer was too slow or nobody could keep them.
    record Missed(long bytes) implements ShellEvent {}

    /// Who is in the shell now.
    record Presence(List<Participant> people) implements ShellEvent {
        public Presence {
            people = List.copyOf(people);
        }
    }

    /// The terminal has this size from here on.
    record Resized(TerminalSize size) implements ShellEvent {}

    /// Its process has ended. The last event.
    record Exited(Exit exit) implements ShellEvent {}

    /// The shell is out of reach for good, for example because its sandbox ended. The last event.
    record Gone(Failure failure) implements ShellEvent {}

    /// The viewer has been closed. The last event.
    record Left() implements ShellEvent {}

    /// Tells the end of a shell to who heard it.
    default void tell(OutputListener outputListener) {
        if (this instanceof Exited(Exit exit)) {
            outputListener.exited(exit);
        } else {
            outputListener.lost();
        }
    }
}
