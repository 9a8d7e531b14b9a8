package dev.vivarium.model;

import java.time.Instant;

/// Cause and time of a sandbox's end. Immutable.
///
/// The server keeps it after it deletes the sandbox, so that a late client learns the cause.
public record End(Cause cause, String detail, Instant at) {

    public enum Cause implements TextEnum {
        /// A client ended it.
        USER,
        /// No client used it within its idle timeout.
        IDLE,
        /// It reached its absolute lifetime.
        LIFETIME,
        /// The kernel killed it, or its guest, because it was out of memory.
        OOM,
        /// The guest or the runtime crashed.
        CRASH,
        /// The host restarted, and the workspace could not be recovered.
        HOST_RESTART,
        /// It violated the protocol and was quarantined.
        QUARANTINED,
        /// The server could not start it, or abandoned it.
        SERVER
    }

    /// Returns a sentence for people, for example `idle since 2026-01-01T10:00:00Z`.
    public String sentence() {
        return detail.isEmpty() ? cause.text() : cause.text() + ": " + detail;
    }
}
