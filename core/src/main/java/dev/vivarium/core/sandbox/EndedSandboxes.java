package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Ended sandboxes: those in the store, and those whose end is not stored yet. Thread-safe.
final class EndedSandboxes {
    private final SandboxRows rows;
    private final Termination termination;

    EndedSandboxes(SandboxRows rows, Termination termination) {
        this.rows = rows;
        this.termination = termination;
    }

    Optional<SandboxInfo> find(SandboxId id) {
        return termination
                .findUnstored(id)
                .or(() -> rows.find(id).filter(row -> row.end().isPresent()).flatMap(SandboxRow::info));
    }

    /// The newest first; filtered by user, if present.
    List<SandboxInfo> newest(Optional<UserId> user, int limit) {
        var unstored = termination.unstored().stream()
                .filter(sandbox -> user.isEmpty() || user.get().equals(sandbox.user()));
        var stored = rows.newestEnded(user, limit).stream().flatMap(row -> row.info().stream());
        return Stream.concat(unstored, stored).limit(limit).toList();
    }

    /// End of the last sandbox of a thread.
    Optional<End> lastOf(ThreadKey thread) {
        return termination.unstored().stream()
                .filter(sandbox -> sandbox.key().equals(thread))
                .findFirst()
                .flatMap(SandboxInfo::end)
                .or(() -> rows.lastEnded(thread).flatMap(SandboxRow::end));
    }

    Optional<UserId> ownerOf(SandboxId id) {
        return termination
                .findUnstored(id)
                .map(SandboxInfo::user)
                .or(() -> rows.find(id).flatMap(SandboxRow::owner).map(ThreadKey::user));
    }

    /// End of a sandbox, if `mine` accepts its user.
    Optional<End> endOf(SandboxId id, Predicate<UserId> mine) {
        return find(id).filter(sandbox -> mine.test(sandbox.user())).flatMap(SandboxInfo::end);
    }
}
