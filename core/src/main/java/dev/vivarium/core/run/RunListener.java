package dev.vivarium.core.run;

import dev.vivarium.model.Run;

/// Listener for the lifecycle of runs. Implementations are thread-safe.
///
/// [Runs] calls its listeners in the order of registration. If a listener throws, the others are called all the same.
public interface RunListener {
    /// The run is about to end, and no other run can begin in its sandbox before this method returns. If a listener
    /// throws, the run does not end, and all listeners are called again later.
    void ending(Run run);

    /// The run has spent its budget. Called after each further charge until the run ends.
    default void overspent(Run run) {}
}
