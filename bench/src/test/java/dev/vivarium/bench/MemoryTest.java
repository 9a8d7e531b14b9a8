package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryTest {
    @Test
    void reclaimableMemoryIsCountedSeparately() {
        var memory = new Memory(Memory.parse(List.of(
                "MemTotal:       1000 kB",
                "AnonPages:       100 kB",
                "Shmem:            10 kB",
                "SReclaimable:     30 kB",
                "SUnreclaim:        5 kB",
                "PageTables:        7 kB",
                "VmallocUsed:      11 kB",
                "Percpu:            2 kB",
                "HugePages_Total:   0")));
        assertThat(memory.kernelKib()).isEqualTo(10 + 5 + 7 + 11 + 2);
        assertThat(memory.reclaimableKib()).isEqualTo(30);
    }

    @Test
    void growthIsDividedByTheNumberOfObjects() {
        var before = new Memory(Map.of("SUnreclaim", 100L));
        var after = new Memory(Map.of("SUnreclaim", 900L));
        assertThat(after.growth(before, 4)).containsEntry("SUnreclaim", 200L).containsEntry("Percpu", 0L);
    }
}
