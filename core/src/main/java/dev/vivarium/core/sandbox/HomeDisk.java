package dev.vivarium.core.sandbox;

import dev.vivarium.model.Failure;
import java.nio.file.Path;

/// Settings for the file system of the home. Immutable.
///
/// @param home          directory with the disks of sandboxes
/// @param lowWaterBytes free space below which no disk is created and the largest grower is frozen
/// @param overcommit    maximum growth of all disks together, as a multiple of the free space
public record HomeDisk(Path home, long lowWaterBytes, double overcommit) {
    public HomeDisk {
        Failure.InvalidRequest.require(
                lowWaterBytes >= 0 && overcommit > 0,
                "disk-low-water-mb, disk-overcommit",
                "must be at least zero, and more than zero");
    }

    /// The defaults: 1 GiB and 10.
    public static HomeDisk standard(Path home) {
        return new HomeDisk(home, 1L << 30, 10);
    }
}
