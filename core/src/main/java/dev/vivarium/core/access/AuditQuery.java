package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Which entries of the audit somebody asks for. Each part that is there narrows it. Immutable.
///
/// @param after  only entries with a larger number, the oldest of them first
/// @param before only entries with a smaller number
public record AuditQuery(
        Optional<ThreadId> thread,
        Optional<SandboxId> sandbox,
        Optional<UserId> user,
        Optional<AuditEntry.Kind> kind,
        Optional<Outcome> outcome,
        Optional<Long> after,
        Optional<Long> before) {
    /// How something ended for whoever did it.
    public enum Outcome {
        /// They got what they asked for.
        DONE,
        /// They did not, for whatever reason.
        REFUSED
    }

    /// The newest of all.
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
