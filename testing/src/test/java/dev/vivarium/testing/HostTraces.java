package dev.vivarium.testing;

import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// Search for traces of a machine on the host: processes, mounts, loop devices, cgroups, files. Stateless.
public final class HostTraces {
    private HostTraces() {}

    /// Returns every trace of `id`, one line each. It searches for files below `home`.
    public static List<String> of(SandboxId id, Path home) {
        var traces = new ArrayList<String>();
        traces.addAll(processes(id.value()));
        traces.addAll(lines(Path.of("/proc/self/mountinfo"), id.value()));
        traces.addAll(loops(id.value()));
        traces.addAll(named(Path.of("/sys/fs/cgroup"), 5, id.value()));
        traces.addAll(named(home, 4, id.value()));
        return traces;
    }

    /// Returns mounts, loop devices, cgroups, processes and in-memory directories of the home itself. None may
    /// remain without a machine or a server.
    public static List<String> of(Path home) {
        var traces = new ArrayList<String>();
        traces.addAll(lines(Path.of("/proc/self/mountinfo"), home.toString()));
        traces.addAll(loops(home.toString()));
        traces.addAll(processes(home.toString()));
        String hash = hash(home);
        traces.addAll(named(Path.of("/sys/fs/cgroup"), 3, hash));
        traces.addAll(named(Path.of("/run/vivarium"), 1, hash));
        traces.addAll(named(Path.of("/dev/shm/vivarium"), 1, hash));
        return traces;
    }

    /// Returns the provider's short name of a home whose path is too long.
    private static String hash(Path home) {
        try {
            var digest =
                    MessageDigest.getInstance("SHA-256").digest(home.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest).substring(0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /// Returns processes with the name in their cgroup, arguments or environment. A zombie process has none of
    /// them.
    private static List<String> processes(String id) {
        return list(Path.of("/proc"))
                .filter(entry -> entry.getFileName().toString().chars().allMatch(Character::isDigit))
                .filter(entry -> Stream.of("cgroup", "cmdline", "environ")
                        .anyMatch(file -> read(entry.resolve(file)).contains(id)))
                .map(entry -> "process " + entry.getFileName() + " "
                        + read(entry.resolve("cmdline")).replace('\0', ' '))
                .toList();
    }

    private static List<String> lines(Path file, String id) {
        return read(file)
                .lines()
                .filter(line -> line.contains(id))
                .map(line -> "mount " + line)
                .toList();
    }

    private static List<String> loops(String id) {
        return list(Path.of("/sys/block"))
                .map(device ->
                        device + " " + read(device.resolve("loop/backing_file")).strip())
                .filter(line -> line.contains(id))
                .toList();
    }

    private static List<String> named(Path root, int depth, String id) {
        var found = new ArrayList<String>();
        list(root).forEach(entry -> {
            if (entry.getFileName().toString().contains(id)) {
                found.add("file " + entry);
            } else if (depth > 1 && Files.isDirectory(entry) && !Files.isSymbolicLink(entry)) {
                found.addAll(named(entry, depth - 1, id));
            }
        });
        return found;
    }

    private static Stream<Path> list(Path directory) {
        try (var entries = Files.list(directory)) {
            return entries.toList().stream();
        } catch (IOException e) {
            return Stream.of();
        }
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
