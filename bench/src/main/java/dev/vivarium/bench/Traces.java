package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// Search for remains of ended sandboxes: processes, mounts, cgroups, loop devices and files with their ids. Stateless.
final class Traces {
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Path BLOCK = Path.of("/sys/block");
    private static final int ATTEMPTS = 60;

    private Traces() {}

    /// Repeats the search until it finds nothing, for at most a minute, the limit for removal. Returns the remains.
    static Set<String> awaitNone(Set<String> ids, Path home) {
        Set<String> left = find(ids, home);
        for (int i = 0; i < ATTEMPTS && !left.isEmpty(); i++) {
            Programs.pause(Duration.ofSeconds(1));
            left = find(ids, home);
        }
        return left;
    }

    private static Set<String> find(Set<String> ids, Path home) {
        var found = new TreeSet<String>();
        for (Path process : Processes.all()) {
            for (String file : List.of("cmdline", "cgroup", "mountinfo")) {
                idsIn(Processes.read(process, file), ids)
                        .forEach(id -> found.add("process " + process.getFileName() + " (" + file + "): " + id));
            }
        }
        for (Path device : loopDevices()) {
            String file = Processes.read(device, "loop/backing_file");
            idsIn(file, ids).forEach(_ -> found.add("loop device " + device.getFileName() + " of " + file.strip()));
        }
        named(CGROUPS, ids).forEach(path -> found.add("cgroup " + path));
        // The run directory may be a link to another file system.
        for (Path root : List.of(home, home.resolve("run").resolve("."))) {
            named(root, ids).forEach(path -> found.add("path " + path));
        }
        return found;
    }

    private static List<String> idsIn(String text, Set<String> ids) {
        if (!text.contains("sbx")) {
            return List.of();
        }
        return ids.stream().filter(text::contains).toList();
    }

    private static List<Path> loopDevices() {
        var devices = new ArrayList<Path>();
        try (var entries = Files.newDirectoryStream(BLOCK, "loop*")) {
            entries.forEach(devices::add);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return devices;
    }

    private static List<Path> named(Path root, Set<String> ids) {
        var paths = new ArrayList<Path>();
        var visitor = new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return visitFile(directory, attributes);
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                if (ids.stream().anyMatch(id -> path.getFileName().toString().contains(id))) {
                    paths.add(path);
                    return FileVisitResult.SKIP_SUBTREE;
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path path, IOException gone) {
                return FileVisitResult.CONTINUE;
            }
        };
        try {
            Files.walkFileTree(root, visitor);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return paths;
    }
}
