package dev.vivarium.core.run;

import dev.vivarium.model.TextEnum;
import java.util.List;
import java.util.Locale;

/// What the server wants of a worker; told in answer to its heartbeats until it is so.
public enum DesiredState implements TextEnum {
    RUN,
    PAUSE,
    ABORT;

    static DesiredState of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }

    /// The commands for a worker that says it is paused, or is not.
    public List<String> commands(boolean isPaused) {
        return switch (this) {
            case RUN -> isPaused ? List.of("resume") : List.of();
            case PAUSE -> isPaused ? List.of() : List.of("pause");
            case ABORT -> List.of("abort");
        };
    }
}
