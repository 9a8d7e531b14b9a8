package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryTest {
    @Test
    void cachesAndTheMemoryOfProcessesDoNotCount() {
        var memory = new Memory(Memory.parse(List.of(
                "MemTotal:       1000 kB",
                "MemFree:         400 kB",
                "Buffers:          50 kB",
                "Cached:          200 kB",
                "SReclaimable:     30 kB",
                "Shmem:            10 kB",
                "AnonPages:       100 kB",
                "HugePages_Total:   0")));
        assertThat(memory.withoutProcessesKib()).isEqualTo(1000 - 400 - 50 - 200 - 30 - 100 + 10);
    }

    @Test
    void growthIsSharedAmongTheThings() {
        var before = new Memory(Map.of("SUnreclaim", 100L));
        var after = new Memory(Map.of("SUnreclaim", 900L));
        assertThat(after.growth(before, 4)).containsEntry("SUnreclaim", 200L).containsEntry("Percpu", 0L);
    }
}
