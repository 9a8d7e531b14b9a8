package dev.vivarium.core.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/// What every image must have: the places where a machine mounts, and the user that commands run as. Stateless.
final class Skeleton {
    private static final List<String> MOUNT_POINTS =
            List.of("proc", "dev", "sys", "tmp", "workspace", "run", "run/vivarium");
    private static final String USER = "sandboxuser";

    private Skeleton() {}

    /// Adds what is missing below `root`, which nobody but this process may be changing.
    static void complete(Path root) throws IOException {
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (var name : MOUNT_POINTS) {
            directory(root.resolve(name));
        }
        var guest = root.resolve("run/vivarium-guest");
        if (!Files.exists(guest, LinkOption.NOFOLLOW_LINKS)) {
            Files.createFile(guest);
        }
        directory(root.resolve("etc"));
        addEntry(root.resolve("etc/passwd"), ":1000:", USER + ":x:1000:1000::/home/" + USER + ":/bin/bash");
        addEntry(root.resolve("etc/group"), ":1000:", USER + ":x:1000:");
        var home = directory(directory(root.resolve("home")).resolve(USER));
        Files.setAttribute(home, "unix:uid", 1000);
        Files.setAttribute(home, "unix:gid", 1000);
    }

    static Path directory(Path path) throws IOException {
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(path);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return path;
    }

    private static void addEntry(Path file, String mark, String entry) throws IOException {
        var text = Files.exists(file) ? Files.readString(file, java.nio.charset.StandardCharsets.ISO_8859_1) : "";
        if (text.lines().noneMatch(line -> line.contains(mark))) {
            var separator = text.isEmpty() || text.endsWith("\n") ? "" : "\n";
            Files.writeString(file, separator + entry + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
