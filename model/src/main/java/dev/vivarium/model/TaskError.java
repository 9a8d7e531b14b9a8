package dev.vivarium.model;

/// Reason of a failed attempt at a task. Immutable.
///
/// @param code    machine-readable reason, for example `oom`
/// @param message sentence for people
public record TaskError(Kind kind, String code, String message) {
    /// Class of an error, which decides about a retry.
    public enum Kind implements TextEnum {
        /// The next attempt may succeed.
        TRANSIENT,
        /// The next attempt would fail in the same way.
        PERMANENT,
        UNKNOWN
    }
}
