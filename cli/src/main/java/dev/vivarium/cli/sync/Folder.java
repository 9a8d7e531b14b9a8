package dev.vivarium.cli.sync;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// Local side of a synchronization. It follows no links, creates no files outside its root, and replaces files
/// atomically. Confined to one thread.
public final class Folder implements Side {
    private static final int TRIES = 3;
    private static final long SETTLED_MILLIS = 1000;
    private static final String STAGE = ".viv-sync-";

    private final Path root;
    /// Cache of hashes, so that unchanged files are not read again.
    private final Map<String, Seen> seen = new HashMap<>();

    /// @param root existing directory
    public Folder(Path root) {
        this.root = root;
    }

    /// @param settled whether the file was unchanged for a while when it was read; the clock is too coarse to
    ///     distinguish two writes in direct succession
    private record Seen(long size, long modified, String key, boolean settled, Version version) {
        boolean isStill(BasicFileAttributes now, boolean executable) {
            return size == now.size()
                    && modified == now.lastModifiedTime().toMillis()
                    && key.equals(String.valueOf(now.fileKey()))
                    && version.executable() == executable;
        }
    }

    public Path root() {
        return root;
    }

    @Override
    public Scan scan(Ignore ignore) throws IOException {
        var files = new TreeMap<String, Version>();
        var skipped = new TreeMap<String, String>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                boolean ignored = !directory.equals(root) && ignore.coversDirectory(name(directory));
                return ignored ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String name = name(file);
                if (!ignore.covers(name)) {
                    scan(file, name, attributes, files, skipped);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (!(e instanceof NoSuchFileException)) {
                    skipped.put(name(file), "cannot be read");
                }
                return FileVisitResult.CONTINUE;
            }
        });
        seen.keySet().retainAll(files.keySet());
        return new Scan(files, skipped);
    }

    private void scan(
            Path file,
            String name,
            BasicFileAttributes attributes,
            Map<String, Version> files,
            Map<String, String> skipped)
            throws IOException {
        Optional<String> problem = Names.problem(name);
        if (problem.isPresent()) {
            skipped.put(name, problem.get());
            return;
        }
        if (!attributes.isRegularFile()) {
            skipped.put(name, attributes.isSymbolicLink() ? "is a symbolic link" : "is not a regular file");
            return;
        }
        try {
            files.put(name, version(file, name));
        } catch (NoSuchFileException _) {
            // Deleted meanwhile; the next round handles it.
        } catch (Changed _) {
            skipped.put(name, "changes during each read; viv retries when no program writes to it");
        }
    }

    /// Returns the version of a file, read while no process wrote to it.
    private Version version(Path file, String name) throws IOException {
        for (int i = 0; i < TRIES; i++) {
            BasicFileAttributes before = attributes(file);
            boolean executable = isExecutable(file);
            Seen known = seen.get(name);
            if (known != null && known.settled() && known.isStill(before, executable)) {
                return known.version();
            }
            var digest = Hashes.begin();
            try (InputStream bytes =
                    new DigestInputStream(Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS), digest)) {
                bytes.transferTo(OutputStream.nullOutputStream());
            }
            long modified = before.lastModifiedTime().toMillis();
            var found = new Seen(
                    before.size(),
                    modified,
                    String.valueOf(before.fileKey()),
                    System.currentTimeMillis() - modified > SETTLED_MILLIS,
                    new Version(Hashes.end(digest), executable));
            if (found.isStill(attributes(file), executable)) {
                seen.put(name, found);
                return found.version();
            }
        }
        throw new Changed(name);
    }

    @Override
    public Content open(String path) throws IOException {
        Path file = inside(path);
        return new Content(Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS), isExecutable(file));
    }

    @Override
    public Version write(String path, Path from, Version version, Optional<Version> expected) throws IOException {
        Path target = inside(path);
        makeParents(target);
        Path staged = Files.createTempFile(parent(target), STAGE, "");
        try {
            Files.copy(from, staged, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(
                    staged, PosixFilePermissions.fromString(version.executable() ? "rwxr-xr-x" : "rw-r--r--"));
            require(target, path, expected);
            Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(staged);
        }
        return version;
    }

    @Override
    public void delete(String path, Version expected) throws IOException {
        Path target = inside(path);
        require(target, path, Optional.of(expected));
        Files.deleteIfExists(target);
        prune(parent(target));
    }

    /// Reports whether the file exists.
    boolean has(String path) throws IOException {
        return Files.exists(inside(path), LinkOption.NOFOLLOW_LINKS);
    }

    private void require(Path target, String path, Optional<Version> expected) throws IOException {
        Optional<Version> now =
                Files.exists(target, LinkOption.NOFOLLOW_LINKS) ? Optional.of(version(target, path)) : Optional.empty();
        if (!now.equals(expected)) {
            throw new Changed(path);
        }
    }

    /// Returns the path of an untrusted name. No part of it may be a link.
    private Path inside(String path) throws IOException {
        Path file = root.resolve(path).normalize();
        if (Names.problem(path).isPresent() || !file.startsWith(root) || file.equals(root)) {
            throw new IOException(path + " is not a path inside the directory");
        }
        for (Path at = file; !at.equals(root); at = parent(at)) {
            if (Files.isSymbolicLink(at)) {
                throw new IOException(path + " leads through a symbolic link");
            }
        }
        return file;
    }

    private void makeParents(Path target) throws IOException {
        Files.createDirectories(parent(target));
    }

    /// Removes empty parent directories, as the remote side does.
    private void prune(Path directory) throws IOException {
        for (Path at = directory; !at.equals(root); at = parent(at)) {
            try (var entries = Files.newDirectoryStream(at)) {
                if (entries.iterator().hasNext()) {
                    return;
                }
            }
            Files.deleteIfExists(at);
        }
    }

    private static Path parent(Path path) throws IOException {
        Path parent = path.getParent();
        if (parent == null) {
            throw new IOException(path + " is not below the directory");
        }
        return parent;
    }

    private String name(Path file) {
        return root.relativize(file).toString();
    }

    private static BasicFileAttributes attributes(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isExecutable(Path file) throws IOException {
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
        return permissions.contains(PosixFilePermission.OWNER_EXECUTE);
    }
}
