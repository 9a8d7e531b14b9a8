package dev.vivarium.core.run;

import dev.vivarium.model.TextEnum;
import java.util.List;

/// State that the server requests from a worker. Immutable.
///
/// The responses to heartbeats repeat the state until the worker has reached it.
public enum DesiredState implements TextEnum {
    RUN,
    PAUSE,
    ABORT;

    /// Returns the commands for a worker.
    public List<String> commands(boolean isPaused) {
        return switch (this) {
            case RUN -> isPaused ? List.of("resume") : List.of();
            case PAUSE -> isPaused ? List.of() : List.of("pause");
            case ABORT -> List.of("abort");
        };
    }
}
