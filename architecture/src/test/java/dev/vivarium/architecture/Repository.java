package dev.vivarium.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/// Files of this repository without build output. Stateless.
final class Repository {
    static final Path ROOT = root();

    private static final Set<String> GENERATED = Set.of(
            ".git",
            ".cache",
            ".idea",
            ".vscode",
            "target",
            "build",
            "bin",
            "node_modules",
            "results",
            "__pycache__",
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache");

    private Repository() {}

    /// Returns every file that is not generated and satisfies the condition, sorted by name.
    static List<Path> files(Predicate<Path> condition) {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                    boolean isGenerated =
                            GENERATED.contains(directory.getFileName().toString());
                    return isGenerated ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile()
                            && !GENERATED.contains(file.getFileName().toString())
                            && condition.test(file)) {
                        found.add(file);
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        found.sort(null);
        return found;
    }

    /// Returns the shipped Java sources: all files below a `src/main/java`.
    static List<Path> mainSources() {
        return files(file -> file.toString().endsWith(".java") && relative(file).contains("src/main/java/"));
    }

    static String relative(Path file) {
        return ROOT.relativize(file).toString();
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(relative(file), e);
        }
    }

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve(".mvn"))) {
            directory = directory.getParent();
        }
        return directory;
    }
}
