package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Root file system that is being unpacked. Confined to one thread; no other process may change the tree.
///
/// Names resolve as in a machine: an absolute link starts at the root of the tree, and `..` stops there. Therefore no
/// entry can be written outside. Devices, FIFOs and setuid bits are dropped.
final class Tree {
    private static final int LONGEST_CHAIN = 40;
    private static final int HIGHEST_ID = 65_535;
    private static final int NOBODY = 65_534;
    private static final String WHITEOUT = ".wh.";
    private static final String OPAQUE = ".wh..wh..opq";

    private final Path root;
    /// Paths that the current layer has written. Its whiteouts apply only to earlier layers.
    private final Set<Path> written = new HashSet<>();

    Tree(Path root) {
        this.root = root;
    }

    void nextLayer() {
        written.clear();
    }

    /// Adds a directory, a file or a link. Ignores other types.
    void add(TarEntry entry, InputStream content) throws IOException {
        var names = names(entry.name());
        if (names.isEmpty()) {
            own(root, entry);
            return;
        }
        var parent = directory(names.subList(0, names.size() - 1));
        var name = names.getLast();
        if (name.startsWith(WHITEOUT)) {
            whiteOut(parent, name);
            return;
        }
        var target = parent.resolve(name);
        switch (entry.type()) {
            case DIRECTORY -> addDirectory(target);
            case FILE -> {
                clear(target);
                Files.copy(content, target);
            }
            case SYMLINK -> {
                clear(target);
                Files.createSymbolicLink(target, Path.of(entry.link()));
            }
            case HARD_LINK -> addHardLink(target, entry);
            case OTHER -> {
                return;
            }
        }
        own(target, entry);
        written.add(target);
    }

    private void addDirectory(Path target) throws IOException {
        if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
            clear(target);
            Files.createDirectory(target);
        }
    }

    private void addHardLink(Path target, TarEntry entry) throws IOException {
        var names = names(entry.link());
        if (names.isEmpty()) {
            throw new IOException("'" + entry.name() + "' is a hard link to nothing");
        }
        var existing = directory(names.subList(0, names.size() - 1)).resolve(names.getLast());
        if (!Files.isRegularFile(existing, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("'" + entry.name() + "' is a hard link to what is not a file of the image");
        }
        if (!existing.equals(target)) {
            clear(target);
            Files.createLink(target, existing);
        }
    }

    private void whiteOut(Path parent, String name) throws IOException {
        if (!name.equals(OPAQUE)) {
            var names = names(name.substring(WHITEOUT.length()));
            if (names.isEmpty()) {
                throw new IOException("a whiteout of nothing");
            }
            FileTrees.delete(parent.resolve(names.getFirst()));
            return;
        }
        try (var entries = Files.newDirectoryStream(parent)) {
            for (var entry : entries) {
                if (!written.contains(entry)) {
                    FileTrees.delete(entry);
                }
            }
        }
    }

    private static void clear(Path target) throws IOException {
        FileTrees.delete(target);
    }

    private static void own(Path target, TarEntry entry) throws IOException {
        Files.setAttribute(target, "unix:uid", id(entry.uid()), LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(target, "unix:gid", id(entry.gid()), LinkOption.NOFOLLOW_LINKS);
        if (entry.type() == TarEntry.Type.FILE || entry.type() == TarEntry.Type.DIRECTORY) {
            // Sets permission bits only, after the owner. Drops setuid and setgid; keeps the sticky bit of a directory.
            int sticky = entry.type() == TarEntry.Type.DIRECTORY ? 01000 : 0;
            Files.setAttribute(target, "unix:mode", entry.mode() & (0777 | sticky), LinkOption.NOFOLLOW_LINKS);
        }
    }

    /// A machine has 65,536 user ids. Larger ids map to nobody.
    private static int id(long id) {
        return id >= 0 && id <= HIGHEST_ID ? (int) id : NOBODY;
    }

    /// Returns the directory with this name, with links resolved inside the tree. Creates it if it is missing.
    private Path directory(List<String> names) throws IOException {
        var left = new ArrayDeque<>(names);
        var at = root;
        int links = 0;
        while (!left.isEmpty()) {
            var name = left.removeFirst();
            if (name.equals("..")) {
                at = parent(at);
                continue;
            }
            var next = at.resolve(name);
            if (Files.isSymbolicLink(next)) {
                if (++links > LONGEST_CHAIN) {
                    throw new IOException("too many links in a path of the image");
                }
                var target = Files.readSymbolicLink(next);
                at = target.isAbsolute() ? root : at;
                prepend(left, parts(target.toString()));
            } else {
                at = make(next);
            }
        }
        return at;
    }

    /// As in a machine, the parent of the root is the root.
    private Path parent(Path at) {
        var parent = at.getParent();
        return parent == null || at.equals(root) ? root : parent;
    }

    private static void prepend(ArrayDeque<String> left, List<String> names) {
        names.reversed().forEach(left::addFirst);
    }

    private static Path make(Path directory) throws IOException {
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(directory);
            Files.setPosixFilePermissions(
                    directory,
                    EnumSet.of(
                            PosixFilePermission.OWNER_READ,
                            PosixFilePermission.OWNER_WRITE,
                            PosixFilePermission.OWNER_EXECUTE,
                            PosixFilePermission.GROUP_READ,
                            PosixFilePermission.GROUP_EXECUTE,
                            PosixFilePermission.OTHERS_READ,
                            PosixFilePermission.OTHERS_EXECUTE));
        } else if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("'" + directory.getFileName() + "' is used as a directory but is not one");
        }
        return directory;
    }

    /// Returns the parts of an entry's name. Rejects `..`, which only a malicious archive contains.
    private static List<String> names(String name) throws IOException {
        var parts = parts(name);
        if (parts.contains("..")) {
            throw new IOException("'" + name + "' leaves the image");
        }
        return parts;
    }

    private static List<String> parts(String name) {
        return Arrays.stream(name.split("/"))
                .filter(part -> !part.isEmpty() && !part.equals("."))
                .toList();
    }
}
