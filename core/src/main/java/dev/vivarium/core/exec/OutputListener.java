package dev.vivarium.core.exec;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;

/// Hears what a command does, beside its reader and when its reader does. Called by the reader's worker: it must be
/// quick, and must not throw.
public interface OutputListener {
    OutputListener NOBODY = new OutputListener() {};

    default void output(ExecEvent.Stream stream, byte[] bytes) {}

    default void exited(Exit exit) {}

    /// Nothing more is heard of it for now: the guest was lost, and perhaps is found again.
    default void lost() {}

    /// Its reader has gone before its end. May come after [#exited], and then means nothing.
    default void left() {}
}
