package dev.vivarium.model;

import java.time.Instant;
import java.util.Locale;

/// Why and when a sandbox ended. It is kept after the sandbox is gone, so that a late caller learns the cause.
/// Immutable.
public record End(Cause cause, String detail, Instant at) {

    /// The closed set of reasons for which a sandbox ends.
    public enum Cause {
        /// Somebody asked for it.
        USER,
        /// Nobody used it for as long as its lease allows.
        IDLE,
        /// It reached its absolute lifetime.
        LIFETIME,
        /// The kernel ended it, or its guest, for want of memory.
        OOM,
        /// The guest or the runtime died.
        CRASH,
        /// The host restarted, and its workspace could not be brought back.
        HOST_RESTART,
        /// It broke the protocol and was put away.
        QUARANTINED,
        /// The server could not start it, or gave it up.
        SERVER;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// One sentence for people, for example `idle since 2026-01-01T10:00:00Z`.
    public String sentence() {
        return detail.isEmpty() ? cause.label() : cause.label() + ": " + detail;
    }
}
