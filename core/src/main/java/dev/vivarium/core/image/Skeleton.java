package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/// Minimum content of every image: the mount points of a machine, and the user that commands run as. Stateless.
final class Skeleton {
    private static final List<String> MOUNT_POINTS =
            List.of("proc", "dev", "sys", "tmp", "workspace", "run", "run/vivarium");
    private static final String USER = "sandboxuser";
    private static final long LARGEST_TABLE = 1 << 20;

    private Skeleton() {}

    /// Adds missing content below `root`. No other process may change `root` meanwhile.
    static void complete(Path root) throws IOException {
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (var name : MOUNT_POINTS) {
            directory(root.resolve(name));
        }
        // runc gives a tmpfs mount the mode of the directory below it.
        Files.setAttribute(root.resolve("tmp"), "unix:mode", 01777);
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

    /// Rejects a tree in which a mount point, or a path that this class writes, is a link. A runtime that follows
    /// the link would mount or write elsewhere.
    static void requireNoLinks(Path root) throws IOException {
        var places = new ArrayList<>(MOUNT_POINTS);
        places.addAll(List.of("etc", "home", "home/" + USER, "run/vivarium-guest"));
        for (var name : places) {
            var place = root.resolve(name);
            if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)
                    && !Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)
                    && !Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("/" + name + " must not be a link");
            }
        }
        for (var name : List.of("etc/passwd", "etc/group")) {
            var file = root.resolve(name);
            if (Files.isSymbolicLink(file) || (Files.exists(file) && Files.size(file) > LARGEST_TABLE)) {
                throw new IOException("/" + name + " must be a file of at most " + LARGEST_TABLE + " bytes");
            }
        }
        // An imported tree must not mark itself as a layer.
        FileTrees.delete(root.resolve(Layer.MARKER));
        // The runtime mounts its own `/dev`, which would hide that of the image.
        FileTrees.delete(root.resolve("dev"));
    }

    static Path directory(Path path) throws IOException {
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(path);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return path;
    }

    /// Writes a world-readable file, regardless of the umask.
    static void file(Path path, String text) throws IOException {
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
    }

    private static void addEntry(Path file, String mark, String entry) throws IOException {
        if (!Files.exists(file)) {
            file(file, "");
        }
        var text = Files.readString(file, StandardCharsets.ISO_8859_1);
        if (text.lines().noneMatch(line -> line.contains(mark))) {
            var separator = text.isEmpty() || text.endsWith("\n") ? "" : "\n";
            Files.writeString(file, separator + entry + "\n", StandardOpenOption.APPEND);
        }
    }
}
