package dev.vivarium.core.sandbox;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.file.Path;

/// How the engine uses the file system of its home. Immutable.
///
/// @param home          the directory that holds the sandboxes' disks
/// @param lowWaterBytes free space below which no disk is created and the largest grower is frozen
/// @param overcommit    how many times the free space the sandboxes' disks may grow by, all limits together
public record HomeDisk(Path home, long lowWaterBytes, double overcommit) {
    public HomeDisk {
        if (lowWaterBytes < 0 || !(overcommit > 0)) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "disk-low-water-mb, disk-overcommit", "must be at least zero, and more than zero"));
        }
    }

    /// The defaults: 1 GiB and 10.
    public static HomeDisk standard(Path home) {
        return new HomeDisk(home, 1L << 30, 10);
    }
}
