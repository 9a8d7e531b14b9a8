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

/// The machine's memory at one moment, in KiB by the names of `/proc/meminfo`. Immutable.
record Memory(Map<String, Long> kib) {
    private static final int READINGS = 9;
    private static final List<String> SHOWN =
            List.of("PageTables", "Percpu", "SReclaimable", "SUnreclaim", "Shmem", "VmallocUsed");

    Memory {
        kib = Map.copyOf(kib);
    }

    /// Reads several times over two seconds and takes the median of each value.
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

    /// What the kernel itself uses and cannot give back: its structures, page tables, stacks, counters per
    /// processor and memory file systems. It is a sum of what is counted by kind, and not what is missing from the
    /// total, because neighbours come and go.
    long kernelKib() {
        return of("SUnreclaim") + of("PageTables") + of("VmallocUsed") + of("Percpu") + of("Shmem");
    }

    /// Names and file headers that the kernel remembers until it needs the memory.
    long reclaimableKib() {
        return of("SReclaimable");
    }

    /// Where the difference to `earlier` lies, in KiB for each of `count` things.
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
