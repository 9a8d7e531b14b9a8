package dev.vivarium.model;

import java.util.Locale;

/// Where a sandbox is in its life. `TERMINATED` and `FAILED` are final and come with an [End].
public enum Status {
    CREATING,
    RUNNING,
    PAUSED,
    TERMINATED,
    FAILED;

    public boolean isFinal() {
        return this == TERMINATED || this == FAILED;
    }

    /// The lower-case form that the API shows.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
