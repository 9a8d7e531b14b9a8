package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.sandbox.Capacity.Entry;
import dev.vivarium.core.sandbox.SandboxesConfig.CapacityLimits;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CapacityTest {
    private static final long DISK = 1L << 20;

    @TempDir
    Path home;

    @Test
    void poolIsLimitedByItsTargetAndTheCapacity() {
        var capacity = capacity(3, 2);
        assertThat(capacity.enterPool()).isTrue();
        assertThat(capacity.enterPool()).isTrue();
        assertThat(capacity.enterPool()).isFalse();
        var small = capacity(1, 2);
        assertThat(small.enterPool()).isTrue();
        assertThat(small.enterPool()).isFalse();
    }

    @Test
    void threadsReplacePooledMachines() {
        var capacity = capacity(2, 2);
        capacity.enterPool();
        capacity.enterPool();
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED_BY_EVICTION);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED_BY_EVICTION);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.FULL);
        assertThat(capacity.active()).isEqualTo(2);
    }

    @Test
    void releasedSlotCanBeTakenAgain() {
        var capacity = capacity(1, 0);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.FULL);
        capacity.leave(DISK);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED);
    }

    @Test
    void adoptedSandboxesCountEvenBeyondTheLimit() {
        var capacity = capacity(1, 1);
        capacity.adopt(DISK);
        capacity.adopt(DISK);
        assertThat(capacity.active()).isEqualTo(2);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.FULL);
        assertThat(capacity.enterPool()).isFalse();
    }

    @Test
    void diskLimitsCountAgainstFreeSpaceTimesOvercommit() {
        long free = home.toFile().getUsableSpace();
        // Slightly more than two disks and much less than three.
        var space = new DiskSpace(Optional.of(new HomeDisk(home, 0, 2.5 * DISK / free)));
        var capacity = new Capacity(new CapacityLimits(1, 10, 8), DISK, space);
        assertThat(capacity.enter(100 * DISK)).as("disks are not counted yet").isEqualTo(Entry.ENTERED);
        capacity.leave(100 * DISK);
        space.usedByDisks(0);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED);
        assertThat(capacity.enterPool()).isTrue();
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.OVERCOMMITTED);
        assertThat(space.overcommitted(DISK, capacity.promisedDiskBytes()).sentence())
                .contains("a disk of 1 MiB", "may grow to 2 MiB", "disk-overcommit is");
        // Bytes that the disks already use are not counted twice.
        space.usedByDisks(DISK);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.OVERCOMMITTED);
        capacity.leave(DISK);
        assertThat(capacity.enter(DISK)).isEqualTo(Entry.ENTERED);
    }

    @Test
    void fileSystemOfUnknownSizeIsNeverLow() {
        var space = new DiskSpace(Optional.of(new HomeDisk(Path.of("/proc"), 1L << 30, 1)));
        assertThat(space.reading().level()).isEqualTo(DiskSpace.Level.OK);
    }

    private static Capacity capacity(int limit, int poolTarget) {
        return new Capacity(new CapacityLimits(poolTarget, limit, 8), DISK, new DiskSpace(Optional.empty()));
    }
}
