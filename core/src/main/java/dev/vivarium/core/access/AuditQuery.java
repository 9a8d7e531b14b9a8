package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Filter for audit entries. Each present component narrows the result. Immutable.
///
/// @param thread name of the thread
/// @param owner  owner of the thread
/// @param after  only entries with a larger number, oldest first
/// @param before only entries with a smaller number
public record AuditQuery(
        Optional<ThreadId> thread,
        Optional<UserId> owner,
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

    public AuditQuery ofThread(ThreadKey key) {
        return new AuditQuery(
                Optional.of(key.thread()), Optional.of(key.user()), sandbox, user, kind, outcome, after, before);
    }
}
