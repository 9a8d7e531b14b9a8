package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// What a thread's disk was at one moment. Immutable.
///
/// @param sandbox   whose disk it was; it may be long gone
/// @param name      for people; may be empty
/// @param bytes     what its files take; blocks that it shares with others are counted for each
/// @param diskBytes the size of the disk
/// @param parent    as which its disk had last been saved, or from which it had last been restored or forked
public record SnapshotInfo(
        SnapshotId id,
        ThreadId thread,
        SandboxId sandbox,
        String name,
        long bytes,
        long diskBytes,
        Instant createdAt,
        Optional<SnapshotId> parent) {
    private static final int LONGEST_NAME = 128;

    public SnapshotInfo {
        requireName(name);
    }

    /// Refuses a name that is too long or would upset a terminal.
    public static String requireName(String name) {
        if (name.length() > LONGEST_NAME || name.chars().anyMatch(Character::isISOControl)) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "name", "must have at most " + LONGEST_NAME + " characters, none of them a control character"));
        }
        return name;
    }
}
