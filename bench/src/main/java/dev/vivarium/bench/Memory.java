package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Memory of the machine at one moment, in KiB by the names of `/proc/meminfo`. Immutable.
record Memory(Map<String, Long> kib) {
    private static final int READINGS = 9;
    private static final List<String> SHOWN =
            List.of("PageTables", "Percpu", "SReclaimable", "SUnreclaim", "Shmem", "VmallocUsed");

    Memory {
        kib = Map.copyOf(kib);
    }

    /// Reads several times over two seconds and returns the median of each value.
    static Memory settled() {
        var readings = new HashMap<String, long[]>();
        for (int i = 0; i < READINGS; i++) {
            int reading = i;
            read().forEach((name, value) -> readings.computeIfAbsent(name, _ -> new long[READINGS])[reading] = value);
            Programs.pause(Duration.ofMillis(250));
        }
        var medians = new HashMap<String, Long>();
        readings.forEach((name, values) -> {
            Arrays.sort(values);
            medians.put(name, values[READINGS / 2]);
        });
        return new Memory(medians);
    }

    private static Map<String, Long> read() {
        try {
            return parse(Files.readAllLines(Path.of("/proc/meminfo")));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static Map<String, Long> parse(List<String> lines) {
        var values = new HashMap<String, Long>();
        for (String line : lines) {
            int colon = line.indexOf(':');
            values.put(
                    line.substring(0, colon),
                    Long.parseLong(line.substring(colon + 1).trim().split(" ")[0]));
        }
        return values;
    }

    /// Returns the memory that the kernel uses and cannot reclaim: its structures, page tables, stacks,
    /// per-processor counters and memory file systems. It is a sum by kind and not a difference to the total,
    /// because other programs start and end.
    long kernelKib() {
        return of("SUnreclaim") + of("PageTables") + of("VmallocUsed") + of("Percpu") + of("Shmem");
    }

    /// Returns the cached names and inodes that the kernel can reclaim.
    long reclaimableKib() {
        return of("SReclaimable");
    }

    /// Returns the growth since `earlier` by kind, in KiB for each of `count` things.
    Map<String, Long> growth(Memory earlier, int count) {
        var growth = new TreeMap<String, Long>();
        for (String name : SHOWN) {
            growth.put(name, (of(name) - earlier.of(name)) / count);
        }
        return growth;
    }

    private long of(String name) {
        return kib.getOrDefault(name, 0L);
    }
}
