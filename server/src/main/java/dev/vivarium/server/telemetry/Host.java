package dev.vivarium.server.telemetry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/// The machine that the server runs on, and what is left of it. Thread-safe.
public final class Host {
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final int KIB = 1024;

    private final Path home;

    /// @param home where the server keeps its files: its disk is the one that counts
    public Host(Path home) {
        this.home = home;
    }

    /// How it stands at one moment.
    ///
    /// @param load how many programs wanted a processor over the last minute; negative where the system does not
    /// tell
    public record Reading(int cpus, double load, Room memory, Room disk) {}

    /// How much there is of something, and how much of it could be used now.
    public record Room(long bytes, long free) {}

    public Reading read() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        try {
            var store = Files.getFileStore(home);
            return new Reading(
                    system.getAvailableProcessors(),
                    system.getSystemLoadAverage(),
                    memory(),
                    new Room(store.getTotalSpace(), store.getUsableSpace()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// What the kernel calls available: caches count as free, for they go when somebody needs the room.
    private static Room memory() throws IOException {
        try (var lines = Files.lines(MEMORY)) {
            Map<String, Long> sizes = lines.map(line -> line.split("[:\\s]+"))
                    .filter(words -> words.length == 3)
                    .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1]) * KIB));
            return new Room(sizes.getOrDefault("MemTotal", 0L), sizes.getOrDefault("MemAvailable", 0L));
        }
    }
}
