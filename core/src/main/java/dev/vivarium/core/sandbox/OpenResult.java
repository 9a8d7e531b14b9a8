package dev.vivarium.core.sandbox;

/// Sandbox of a thread, with the information whether this call created it. Immutable.
public record OpenResult(Sandbox sandbox, Outcome outcome) {
    /// Whether the sandbox existed.
    public enum Outcome {
        CREATED,
        EXISTING
    }

    public boolean created() {
        return outcome == Outcome.CREATED;
    }
}
