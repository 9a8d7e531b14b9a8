package dev.vivarium.sdk.engine;

import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import java.util.Optional;

/// Snapshots of the files of threads. Thread-safe.
public interface Snapshots {
    /// Saves the files of the thread's sandbox. The name may be empty.
    SnapshotInfo take(String thread, String name);

    /// The snapshots of the thread, oldest first.
    List<SnapshotInfo> list(String thread);

    /// The newest snapshot of the thread with this name.
    default Optional<SnapshotInfo> find(String thread, String name) {
        return list(thread).reversed().stream()
                .filter(snapshot -> snapshot.name().equals(name))
                .findFirst();
    }

    /// The snapshot with this id; throws `NoSuchSnapshot` if it does not exist.
    SnapshotInfo get(String id);

    /// Replaces the files of the thread's sandbox and ends its processes. The sandbox keeps its id.
    SandboxInfo restore(SnapshotInfo snapshot);

    /// Creates a sandbox with these files for another thread, which must not have one. Without a user, it belongs
    /// to the caller; in local mode, to the owner of the snapshot's thread.
    SandboxInfo fork(SnapshotInfo snapshot, String thread, Optional<String> user);

    /// Deletes the snapshot. Sandboxes that were restored or forked from it keep their files.
    void delete(SnapshotInfo snapshot);
}
