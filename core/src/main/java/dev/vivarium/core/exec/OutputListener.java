package dev.vivarium.core.exec;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;

/// Listener to the output of a command, in addition to its reader. Called by the reader's thread; it must return
/// quickly and must not throw.
public interface OutputListener {
    OutputListener NONE = new OutputListener() {};

    default void output(ExecEvent.Stream stream, byte[] bytes) {}

    default void exited(Exit exit) {}

    /// The guest was lost. The command may be found again.
    default void lost() {}

    /// The reader closed before the exit. May follow [#exited]; the call has no meaning then.
    default void left() {}
}
