package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Snapshot of a thread's disk. Immutable.
///
/// @param key       thread of the disk and its owner
/// @param sandbox   sandbox of the disk; it may have ended
/// @param name      display name; may be empty
/// @param bytes     size of its files; blocks shared with other snapshots count for each
/// @param diskBytes size of the disk
/// @param parent    snapshot that the disk was last saved as, restored from or forked from
public record SnapshotInfo(
        SnapshotId id,
        ThreadKey key,
        SandboxId sandbox,
        String name,
        long bytes,
        long diskBytes,
        Instant createdAt,
        Optional<SnapshotId> parent) {
    private static final int MAX_NAME = 128;

    public SnapshotInfo {
        requireName(name);
    }

    public ThreadId thread() {
        return key.thread();
    }

    /// Rejects a name that is too long or contains control characters, which could corrupt a terminal.
    public static String requireName(String name) {
        Failure.InvalidRequest.require(
                name.length() <= MAX_NAME && name.chars().noneMatch(Character::isISOControl),
                "name",
                "must have at most " + MAX_NAME + " characters, none of them a control character");
        return name;
    }
}
