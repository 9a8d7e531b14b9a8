package dev.vivarium.core.sandbox;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TextEnum;
import java.io.File;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Free space of the file system of the home, and the operations that each level permits. Thread-safe.
///
/// [DiskGuard] measures every second. All other methods use the last measurement, so that no call waits for the disk.
public final class DiskSpace {
    private static final Logger LOG = LoggerFactory.getLogger(DiskSpace.class);
    private static final Duration RETRY_AFTER = Duration.ofSeconds(10);

    /// The low-water mark is at most this share of the file system.
    private static final int MARK_SHARE = 10;

    /// Below this share of the low-water mark the file system counts as full.
    private static final int FULL_SHARE = 16;

    /// The space must exceed the mark by this share of it before the level is [Level#OK] again.
    private static final int HYSTERESIS = 8;

    private static final long MIB = 1L << 20;

    private final Optional<HomeDisk> disk;
    private volatile Reading reading;

    /// Bytes that the disks of sandboxes occupy; negative if disks have no limit.
    private volatile long usedByDisks = -1;

    DiskSpace(Optional<HomeDisk> disk) {
        this.disk = disk;
        this.reading = new Reading(Long.MAX_VALUE, 0, Level.OK);
        measure();
    }

    /// Level of the free space.
    public enum Level implements TextEnum {
        OK,
        /// Below the low-water mark: no new disks and no snapshots, and the largest grower is frozen.
        LOW,
        /// Nearly full: the server also rejects uploads and events of agents. It still writes ends of
        /// sandboxes, audit entries and its own events.
        FULL
    }

    /// One measurement.
    public record Reading(long freeBytes, long lowWaterBytes, Level level) {}

    public Reading reading() {
        return reading;
    }

    boolean isLow() {
        return reading.level() != Level.OK;
    }

    /// Reads the free space from the kernel.
    Reading measure() {
        disk.ifPresent(home -> update(read(home)));
        return reading;
    }

    private Reading read(HomeDisk home) {
        File directory = home.home().toFile();
        long total = directory.getTotalSpace();
        if (total == 0) {
            return reading; // The free space is unknown, for example because the directory does not exist.
        }
        long mark = Math.min(home.lowWaterBytes(), total / MARK_SHARE);
        long free = directory.getUsableSpace();
        return new Reading(free, mark, level(free, mark));
    }

    private Level level(long free, long mark) {
        if (free < mark / FULL_SHARE) {
            return Level.FULL;
        }
        return free < (isLow() ? mark + mark / HYSTERESIS : mark) ? Level.LOW : Level.OK;
    }

    private void update(Reading now) {
        Level before = reading.level();
        reading = now;
        if (before == now.level()) {
            return;
        }
        String text = "Disk space is {}: {} MiB free, the low-water mark is {} MiB";
        Object[] numbers = {now.level().text(), now.freeBytes() / MIB, now.lowWaterBytes() / MIB};
        if (now.level() == Level.OK) {
            LOG.info(text, numbers);
        } else {
            LOG.warn(text, numbers);
        }
    }

    /// Sets the usage of all disks, for [#maxPromised].
    void usedByDisks(long bytes) {
        usedByDisks = bytes;
    }

    /// Maximum sum of disk limits for the current free space: `used + overcommit × free`.
    long maxPromised() {
        long used = usedByDisks;
        return disk.isEmpty() || used < 0
                ? Long.MAX_VALUE
                : (long) (used + disk.get().overcommit() * reading.freeBytes());
    }

    /// Fails with `NoDiskSpace` if the free space is below the low-water mark.
    ///
    /// @param what operation of the caller, as in "create a sandbox"
    public void requireRoom(String what) {
        if (isLow()) {
            throw new SandboxException(refusal(what));
        }
    }

    /// Fails with `NoDiskSpace` if the file system is full.
    public void requireWritable(String what) {
        if (reading.level() == Level.FULL) {
            throw new SandboxException(refusal(what));
        }
    }

    private Failure.NoDiskSpace refusal(String what) {
        Reading now = reading;
        return new Failure.NoDiskSpace(
                "cannot " + what + ": the server's disk has " + now.freeBytes() / MIB
                        + " MiB free and its low-water mark is " + now.lowWaterBytes() / MIB
                        + " MiB; end sandboxes or delete snapshots",
                RETRY_AFTER);
    }

    /// Failure for a disk of this size that exceeds the overcommit limit.
    Failure.NoDiskSpace overcommitted(long diskBytes, long promised) {
        double factor = disk.map(HomeDisk::overcommit).orElse(1.0);
        return new Failure.NoDiskSpace(
                "cannot create a sandbox with a disk of " + diskBytes / MIB + " MiB: the disks there are may grow to "
                        + promised / MIB + " MiB and use " + Math.max(0, usedByDisks) / MIB
                        + " MiB now; the server has "
                        + reading.freeBytes() / MIB + " MiB free and disk-overcommit is " + factor
                        + "; end sandboxes, or raise disk-overcommit",
                RETRY_AFTER);
    }
}
