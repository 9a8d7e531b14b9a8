package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Filter for audit entries. Each present component narrows the result. Immutable.
///
/// @param after  only entries with a larger number, oldest first
/// @param before only entries with a smaller number
public record AuditQuery(
        Optional<ThreadId> thread,
        Optional<SandboxId> sandbox,
        Optional<UserId> user,
        Optional<AuditEntry.Kind> kind,
        Optional<Outcome> outcome,
        Optional<Long> after,
        Optional<Long> before) {
    /// Outcome of an operation.
    public enum Outcome {
        /// The operation succeeded (status below 400).
        DONE,
        /// The operation failed for any reason (status 400 or above).
        REFUSED
    }

    /// Matches every entry; returns the newest.
    public static final AuditQuery ALL = new AuditQuery(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    public AuditQuery ofThread(ThreadId id) {
        return new AuditQuery(Optional.of(id), sandbox, user, kind, outcome, after, before);
    }

    public AuditQuery since(long seq) {
        return new AuditQuery(thread, sandbox, user, kind, outcome, Optional.of(seq), before);
    }
}
