package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Limits;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// Contract of a provider with resource limits: the kernel stops a machine at its limits, and the guest survives.
public abstract class LimitsContract extends SnapshotContract {
    private static final long MIB = 1024 * 1024;
    private static final String ALLOCATE_150_MIB = "perl -e '$x = \"x\" x (150 * 1024 * 1024); print length $x'";

    @Test
    void memoryLimitKillsTheCommandAndNotTheGuest() {
        try (var box = start()) {
            assertThat(box.run(ALLOCATE_150_MIB).exitCode()).isEqualTo(137);
            assertThat(box.machine().usage().oomKills()).isPositive();
            assertThat(box.output("echo alive")).isEqualTo("alive");
        }
    }

    @Test
    void meminfoShowsTheLimit() {
        try (var box = start()) {
            assertThat(box.output("grep MemTotal /proc/meminfo | tr -s ' '")).isEqualTo("MemTotal: 131072 kB");
        }
    }

    @Test
    void limitsChangeWhileTheMachineRuns() {
        try (var box = start()) {
            box.machine().limit(new Limits(512 * MIB, 1, 200, SMALL.diskBytes()));
            assertThat(box.output(ALLOCATE_150_MIB)).isEqualTo(Long.toString(150 * MIB));
            assertThat(box.output("grep MemTotal /proc/meminfo | tr -s ' '")).isEqualTo("MemTotal: 524288 kB");
            box.machine().limit(SMALL);
            assertThat(box.run(ALLOCATE_150_MIB).exitCode()).isEqualTo(137);
        }
    }

    @Test
    void forkBombIsBoundedByTheProcessLimit() {
        try (var box = start()) {
            box.leave("bomb() { bomb | bomb & }; bomb; sleep 1000");
            await().until(() -> box.machine().usage().processes() >= SMALL.processes() / 2);
            assertThat(box.machine().usage().processes()).isLessThanOrEqualTo(SMALL.processes());
            assertThat(box.guest().pingWithin(Duration.ofMinutes(1)))
                    .as("the guest answers")
                    .isPositive();
        }
    }

    @Test
    void diskLimitIsEnforcedAndDeletedFilesFreeSpace() {
        try (var box = start()) {
            assertThat(box.output("dd if=/dev/zero of=big bs=1M count=100")).contains("No space left on device");
            assertThat(Long.parseLong(box.output("stat -c %s big"))).isLessThanOrEqualTo(SMALL.diskBytes());
            // The kernel frees the space a moment after the file is deleted.
            assertThat(box.run("rm big; until dd if=/dev/zero of=small bs=1M count=20; do sleep 0.1; done")
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    void numberOfFilesIsLimited() {
        try (var box = start()) {
            var result = box.run("for i in $(seq 20000); do : > f$i || exit 3; done");
            assertThat(result.exitCode()).isEqualTo(3);
        }
    }

    @Test
    void scratchSpaceIsLimited() {
        try (var box = start()) {
            assertThat(box.output("dd if=/dev/zero of=/tmp/big bs=1M count=100"))
                    .contains("No space left on device");
            assertThat(box.output("dd if=/dev/zero of=/dev/shm/big bs=1M count=100; rm -f /tmp/big /dev/shm/big"))
                    .doesNotContain("104857600 bytes");
        }
    }
}
