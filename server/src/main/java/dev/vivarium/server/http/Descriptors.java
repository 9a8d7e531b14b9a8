package dev.vivarium.server.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/// File descriptors of this process. The JVM raises the soft limit to the hard limit at start. Thread-safe.
public final class Descriptors {
    private static final Path OPEN = Path.of("/proc/self/fd");
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String LINE = "Max open files";

    /// Descriptors reserved for sandboxes, the database and clients with a valid credential.
    private static final int MIN_RESERVE = 64;

    private static final int MAX_RESERVE = 1024;

    private Descriptors() {}

    /// Returns the number of open descriptors, or nothing if the system does not provide it.
    public static OptionalInt open() {
        String[] names = OPEN.toFile().list();
        return names == null ? OptionalInt.empty() : OptionalInt.of(names.length);
    }

    /// Returns the maximum number of open descriptors.
    public static int limit() {
        try (var lines = Files.lines(LIMITS)) {
            return lines.filter(line -> line.startsWith(LINE))
                    .map(line -> line.substring(LINE.length()).strip().split("\\s+")[0])
                    .filter(soft -> soft.matches("\\d{1,9}"))
                    .mapToInt(Integer::parseInt)
                    .findFirst()
                    .orElse(Integer.MAX_VALUE);
        } catch (IOException e) {
            return Integer.MAX_VALUE;
        }
    }

    /// Returns the number of descriptors that connections never use: a tenth, but at least 64 and at most 1,024.
    public static int reserve(int limit) {
        return Math.clamp(limit / 10, MIN_RESERVE, MAX_RESERVE);
    }
}
