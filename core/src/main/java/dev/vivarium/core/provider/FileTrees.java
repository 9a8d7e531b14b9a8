package dev.vivarium.core.provider;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Operations on directory trees of a provider. Links are never followed. Stateless.
public final class FileTrees {
    private FileTrees() {}

    /// Creates `directory` and missing parents with exactly this mode, for example `rwx--x--x`, independent of the
    /// umask.
    public static Path make(Path directory, String mode) throws IOException {
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
        return directory;
    }

    /// Writes a file that only its owner can read.
    public static void writePrivately(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Files.createFile(file, mode);
        Files.writeString(file, text, StandardCharsets.UTF_8);
    }

    /// Copies a tree with owners, modes, times and extended attributes; shares blocks if the file system supports
    /// that.
    public static void copy(Path from, Path to) throws IOException {
        HostTool.run("copy files", List.of("cp", "--archive", "--reflink=auto", "--", from.toString(), to.toString()));
    }

    /// Replaces `to` with a copy of the tree `from`, after the copy is complete.
    public static void replace(Path from, Path to) throws IOException {
        var unfinished = unfinished(to);
        try {
            delete(unfinished);
            copy(from, unfinished);
            delete(to);
            Files.move(unfinished, to, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            delete(unfinished);
        }
    }

    /// Path of an incomplete copy of `path`, beside it.
    public static Path unfinished(Path path) {
        return path.resolveSibling(path.getFileName() + ".new");
    }

    /// The ids in the names of a directory: the part before the first dot, if it is an id. The set is mutable.
    public static <T> Set<T> ids(Path directory, Predicate<String> isId, Function<String, T> id) throws IOException {
        var ids = new HashSet<T>();
        try (var entries = Files.newDirectoryStream(directory)) {
            for (var entry : entries) {
                var name = entry.getFileName().toString().split("\\.", 2)[0];
                if (isId.test(name)) {
                    ids.add(id.apply(name));
                }
            }
        }
        return ids;
    }

    /// Total size of the files of a tree, in bytes. Files that disappear meanwhile do not count.
    public static long size(Path tree) throws IOException {
        var total = new AtomicLong();
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                total.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                return FileVisitResult.CONTINUE;
            }
        });
        return total.get();
    }

    /// Deletes a tree. A tree that does not exist, or disappears meanwhile, is no error.
    public static void delete(Path tree) throws IOException {
        if (!Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            walkAndDelete(tree);
        } catch (FileSystemException e) {
            deleteStepByStep(tree, e);
        }
    }

    /// Deletes a tree with `rm`, which supports trees deeper than the maximum path length. If `rm` also fails,
    /// throws the first failure.
    private static void deleteStepByStep(Path tree, FileSystemException first) throws IOException {
        try {
            HostTool.run(
                    "remove files",
                    List.of("rm", "--recursive", "--force", "--one-file-system", "--", tree.toString()));
        } catch (SandboxException e) {
            first.addSuppressed(e);
            throw first;
        }
    }

    private static void walkAndDelete(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
                    throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
