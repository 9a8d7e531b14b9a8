package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Processes of this machine, read from `/proc`. A process that ends during the read counts as absent. Stateless.
final class Processes {
    private static final Path PROC = Path.of("/proc");

    private Processes() {}

    static List<Path> all() {
        var processes = new ArrayList<Path>();
        try (var entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
            entries.forEach(processes::add);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return processes;
    }

    /// Returns the text of a file of a process, or "" if the process has ended.
    static String read(Path process, String file) {
        try {
            return Files.readString(process.resolve(file), StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    /// Returns the private memory of a process in KiB: its proportional share of anonymous pages.
    static long privateKib(long pid) {
        return privateKib(PROC.resolve(Long.toString(pid)));
    }

    /// Returns the private memory of all processes whose cgroup or command line contains one of `ids`.
    static long privateKibOf(Set<String> ids) {
        long total = 0;
        for (Path process : all()) {
            String names = read(process, "cgroup") + read(process, "cmdline");
            if (ids.stream().anyMatch(names::contains)) {
                total += privateKib(process);
            }
        }
        return total;
    }

    private static long privateKib(Path process) {
        return value(read(process, "smaps_rollup"), "Pss_Anon:");
    }

    /// Returns the peak resident size of a process in KiB.
    static long peakKib(long pid) {
        return value(read(PROC.resolve(Long.toString(pid)), "status"), "VmHWM:");
    }

    /// Returns the resident size of a process in KiB.
    static long residentKib(long pid) {
        return value(read(PROC.resolve(Long.toString(pid)), "status"), "VmRSS:");
    }

    private static long value(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElse(0);
    }
}
