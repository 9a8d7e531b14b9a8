package dev.vivarium.server.settings;

import dev.vivarium.core.sandbox.HomeDisk;
import dev.vivarium.server.settings.Setting.Range;
import java.nio.file.Path;

/// Settings for the file system of the server's home. Immutable.
public record DiskConfig(long lowWaterBytes, double overcommit, long storeReserveBytes) {
    static final Setting<Long> LOW_WATER = Setting.megabytes(
            "disk-low-water-mb",
            "",
            1024,
            new Range(0, 1_000_000_000),
            "Free space of `home` below which the server creates no sandbox and freezes the one that grows most.");
    static final Setting<Double> OVERCOMMIT = Setting.number(
            "disk-overcommit",
            10,
            new Range(0.01, 1_000_000),
            "Maximum possible growth of all disks, as a multiple of the free space of `home`.");
    static final Setting<Long> STORE_RESERVE = Setting.megabytes(
            "store-reserve-mb",
            "",
            64,
            new Range(0, 1_000_000),
            "Disk space that the SQLite store allocates in advance, so that it can write when the disk is full.");

    static DiskConfig of(Settings settings) {
        return new DiskConfig(settings.get(LOW_WATER), settings.get(OVERCOMMIT), settings.get(STORE_RESERVE));
    }

    /// Converts these settings for the engine.
    public HomeDisk of(Path home) {
        return new HomeDisk(home, lowWaterBytes, overcommit);
    }
}
