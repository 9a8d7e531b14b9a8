package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.sdk.engine.Snapshots;
import java.util.Optional;

/// Reference to a snapshot on the command line: its id, or `THREAD@NAME` for the newest of that name. Immutable.
sealed interface SnapshotRef {
    /// A reference, or nothing if the text can only be the name of a thread.
    static Optional<SnapshotRef> find(String text) {
        int at = text.lastIndexOf('@');
        if (SnapshotId.isWellFormed(text)) {
            return Optional.of(new ById(text));
        }
        return at > 0 && at < text.length() - 1
                ? Optional.of(new ByName(text.substring(0, at), text.substring(at + 1)))
                : Optional.empty();
    }

    static SnapshotRef of(String text) {
        return find(text)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "'" + text + "'", "must be the id of a snapshot, or THREAD@NAME; viv snapshot ls THREAD")));
    }

    /// Asks the server for the snapshot.
    SnapshotInfo resolve(Snapshots snapshots);

    record ById(String id) implements SnapshotRef {
        @Override
        public SnapshotInfo resolve(Snapshots snapshots) {
            return snapshots.get(id);
        }
    }

    record ByName(String thread, String name) implements SnapshotRef {
        @Override
        public SnapshotInfo resolve(Snapshots snapshots) {
            return snapshots
                    .find(thread, name)
                    .orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(thread + "@" + name)));
        }
    }
}
