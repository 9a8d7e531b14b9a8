package dev.vivarium.server.telemetry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/// Resources of the machine that runs the server. Thread-safe.
public final class Host {
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final int KIB = 1024;

    private final Path home;

    /// @param home directory of the server's files, which selects the disk
    public Host(Path home) {
        this.home = home;
    }

    /// Resources at one moment.
    ///
    /// @param load load average of the last minute; negative if the system does not provide it
    public record Reading(int cpus, double load, Space memory, Space disk) {}

    /// Total and available bytes of a resource.
    public record Space(long bytes, long free) {}

    public Reading read() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        try {
            var store = Files.getFileStore(home);
            return new Reading(
                    system.getAvailableProcessors(),
                    system.getSystemLoadAverage(),
                    memory(),
                    new Space(store.getTotalSpace(), store.getUsableSpace()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Uses the kernel's available memory, which includes caches, because the kernel can reclaim them.
    private static Space memory() throws IOException {
        try (var lines = Files.lines(MEMORY)) {
            Map<String, Long> sizes = lines.map(line -> line.split("[:\\s]+"))
                    .filter(words -> words.length == 3)
                    .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1]) * KIB));
            return new Space(sizes.getOrDefault("MemTotal", 0L), sizes.getOrDefault("MemAvailable", 0L));
        }
    }
}
