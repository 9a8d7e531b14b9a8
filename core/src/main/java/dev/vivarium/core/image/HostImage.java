package dev.vivarium.core.image;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.Digests;
import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The image `host`, which needs no download: the programs of the host, read-only, with an `/etc` of its own.
/// Thread-safe.
///
/// A machine sees an allow-list of the host. It sees nothing else: not `/etc`, `/var`, `/opt`, nor a socket in a shared
/// directory.
final class HostImage {
    static final String NAME = "host";

    private static final int GENERATION = 5;
    private static final List<String> PROGRAMS = List.of("bin", "sbin", "lib", "lib32", "lib64", "libx32");
    private static final List<String> COPIED = List.of(
            "alternatives",
            "java-*-openjdk",
            "ld.so.cache",
            "ld.so.conf",
            "ld.so.conf.d",
            "localtime",
            "mime.types",
            "perl",
            "protocols",
            "python3*",
            "services",
            "ssl/certs",
            "ssl/openssl.cnf",
            "timezone");

    private static final Map<String, String> WRITTEN = Map.of(
            "passwd", """
                    root:x:0:0:root:/root:/bin/bash
                    sandboxuser:x:1000:1000::/home/sandboxuser:/bin/bash
                    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
                    """,
            "group", """
                    root:x:0:
                    tty:x:5:
                    sandboxuser:x:1000:
                    nogroup:x:65534:
                    """,
            "hosts", """
                    127.0.0.1 localhost
                    ::1 localhost
                    """,
            "nsswitch.conf", """
                    passwd: files
                    group: files
                    hosts: files
                    """,
            "profile", """
                    PATH=/usr/local/bin:/usr/bin:/bin
                    export PATH
                    """,
            "bash.bashrc", """
                    [ -z "$PS1" ] || PS1='\\u@${debian_chroot:-sandbox}:\\w\\$ '
                    """);

    private final Path directory;
    private final Path etc;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable Image image;

    /// Stores skeletons in `directory`, one for each state of the host that a machine may still use.
    HostImage(Path directory) {
        this.directory = directory;
        this.etc = Path.of("/etc");
    }

    /// Returns the image for the state of the host at the first call. A new check would delay every start.
    Image current() throws IOException {
        synchronized (lock) {
            if (image == null) {
                var shared = shared().stream().map(Image.Shared::inPlace).toList();
                image = new Image(NAME, prepare(), shared);
            }
            return image;
        }
    }

    private Path prepare() throws IOException {
        var files = inputs();
        var root = directory.resolve(".host-" + hash(files));
        if (Files.exists(root)) {
            return root;
        }
        var unready = Files.createTempDirectory(directory, ".new-host-");
        try {
            build(unready, files);
            Files.move(unready, root, StandardCopyOption.ATOMIC_MOVE);
            return root;
        } finally {
            FileTrees.delete(unready);
        }
    }

    /// Returns `/usr`, and if the host does not merge them, `/bin`, `/lib` and similar directories.
    private static List<Path> shared() {
        var shared = new ArrayList<>(List.of(Path.of("/usr")));
        PROGRAMS.stream()
                .map(name -> Path.of("/", name))
                .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                .forEach(shared::add);
        return shared;
    }

    private static void build(Path root, List<Path> files) throws IOException {
        for (var name : List.of("usr", "etc", "root", "var", "var/tmp", "opt", "opt/vivarium", "mnt", "srv")) {
            Skeleton.directory(root.resolve(name));
        }
        for (var name : PROGRAMS) {
            var original = Path.of("/", name);
            if (Files.isSymbolicLink(original)) {
                Files.createSymbolicLink(root.resolve(name), Files.readSymbolicLink(original));
            } else if (Files.isDirectory(original)) {
                Skeleton.directory(root.resolve(name));
            }
        }
        for (var file : files) {
            copy(file, root.resolve(file.toString().substring(1)));
        }
        for (var file : WRITTEN.entrySet()) {
            Skeleton.file(root.resolve("etc").resolve(file.getKey()), file.getValue());
        }
        Files.createSymbolicLink(root.resolve("etc/mtab"), Path.of("/proc/self/mounts"));
        Skeleton.complete(root);
    }

    private static void copy(Path from, Path to) throws IOException {
        for (var parent : missingParents(to)) {
            Skeleton.directory(parent);
        }
        Files.copy(from, to, LinkOption.NOFOLLOW_LINKS, StandardCopyOption.REPLACE_EXISTING);
        if (!Files.isSymbolicLink(to)) {
            // The list contains only world-readable files. They must stay so regardless of the umask of the server.
            Files.setPosixFilePermissions(to, Files.getPosixFilePermissions(from));
        }
    }

    private static List<Path> missingParents(Path path) {
        var missing = new ArrayList<Path>();
        for (var parent = path.getParent(); parent != null && !Files.exists(parent); parent = parent.getParent()) {
            missing.addFirst(parent);
        }
        return missing;
    }

    /// Returns the listed files and links below `/etc` that are world-readable on the host.
    private List<Path> inputs() throws IOException {
        var files = new TreeMap<String, Path>();
        for (var pattern : COPIED) {
            int slash = pattern.indexOf('/');
            var parent = slash < 0 ? etc : etc.resolve(pattern.substring(0, slash));
            if (!Files.isDirectory(parent)) {
                continue;
            }
            try (var matches = Files.newDirectoryStream(parent, pattern.substring(slash + 1))) {
                for (var match : matches) {
                    collect(match, files);
                }
            }
        }
        return List.copyOf(files.values());
    }

    private static void collect(Path start, Map<String, Path> files) throws IOException {
        Files.walkFileTree(start, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                // Most alternatives are manual pages, which machines do not need.
                boolean wanted = attributes.isSymbolicLink()
                        ? !file.toString().endsWith(".gz")
                        : attributes.isRegularFile() && isPublic(file);
                if (wanted) {
                    files.put(file.toString(), file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static boolean isPublic(Path file) throws IOException {
        return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
    }

    private static String hash(List<Path> files) throws IOException {
        var digest = Digests.sha256();
        digest.update(("generation " + GENERATION + shared()).getBytes(StandardCharsets.UTF_8));
        for (var file : files) {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            var line = file + " " + attributes.size() + " " + attributes.lastModifiedTime();
            digest.update(line.getBytes(StandardCharsets.UTF_8));
        }
        return HexFormat.of().formatHex(digest.digest()).substring(0, 12);
    }
}
