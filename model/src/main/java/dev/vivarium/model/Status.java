package dev.vivarium.model;

import java.util.Locale;

/// Status of a sandbox. `TERMINATED` and `FAILED` are final and have an [End]. Immutable.
public enum Status {
    CREATING,
    RUNNING,
    PAUSED,
    TERMINATED,
    FAILED;

    public boolean isFinal() {
        return this == TERMINATED || this == FAILED;
    }

    /// Returns the lower-case form that the API uses.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
