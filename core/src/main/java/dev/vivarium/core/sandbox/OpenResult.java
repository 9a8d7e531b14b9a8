package dev.vivarium.core.sandbox;

/// A thread's sandbox and whether this call made it. Immutable.
public record OpenResult(Sandbox sandbox, Outcome outcome) {
    /// What the call found.
    public enum Outcome {
        CREATED,
        EXISTING
    }

    public boolean created() {
        return outcome == Outcome.CREATED;
    }
}
