package dev.vivarium.model;

/// Status of a sandbox. A `HIBERNATED` one has a disk and no process. `TERMINATED` and `FAILED` are final and have an
/// [End]. Immutable.
public enum Status implements TextEnum {
    CREATING,
    RUNNING,
    PAUSED,
    HIBERNATED,
    TERMINATED,
    FAILED;

    public boolean isFinal() {
        return this == TERMINATED || this == FAILED;
    }
}
