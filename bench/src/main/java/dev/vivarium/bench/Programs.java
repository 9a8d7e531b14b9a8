package dev.vivarium.bench;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// External programs of a measurement, and the removal of their files. Stateless.
final class Programs {
    private static final int TAIL_LINES = 15;

    private Programs() {}

    static Optional<Path> find(String name) {
        String places = System.getenv().getOrDefault("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin";
        for (String directory : places.split(":")) {
            var candidate = Path.of(directory, name);
            if (Files.isExecutable(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    /// Runs a program to its end and copies its output to standard error. Fails if the program fails.
    static void run(List<String> command) {
        run(command, Map.of(), System.err);
    }

    /// Runs a program without its output.
    static void runQuietly(List<String> command) {
        runQuietly(command, Map.of());
    }

    /// Runs a program without its output, with further environment variables.
    static void runQuietly(List<String> command, Map<String, String> environment) {
        run(command, environment, OutputStream.nullOutputStream());
    }

    /// Runs a program with its output in `output`.
    static void run(List<String> command, Map<String, String> environment, OutputStream output) {
        try {
            var builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
            builder.environment().putAll(environment);
            var process = builder.start();
            process.getInputStream().transferTo(output);
            int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException(String.join(" ", command) + " ended with " + code);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupted);
        }
    }

    /// Terminates a process, and kills it after `timeout`.
    static void stop(Process process, Duration timeout) {
        process.destroy();
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /// Returns the last lines of a log, for a message.
    static String tail(Path file) {
        try {
            List<String> lines = Files.readAllLines(file);
            int from = Math.max(0, lines.size() - TAIL_LINES);
            return String.join("\n", lines.subList(from, lines.size())) + "\n";
        } catch (IOException unreadable) {
            return "";
        }
    }

    static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Runs one step of a cleanup, which continues after a failure. Prints the failure and reports success.
    static boolean attempt(Runnable step) {
        try {
            step.run();
            return true;
        } catch (RuntimeException failure) {
            System.err.println("cleaning up: " + failure);
            return false;
        }
    }

    static void unmountBelow(Path directory) {
        try (var lines = Files.lines(Path.of("/proc/self/mountinfo"))) {
            lines.map(line -> line.split(" ")[4])
                    .filter(point -> Path.of(point).startsWith(directory))
                    .sorted(Comparator.reverseOrder())
                    .forEach(point -> run(List.of("umount", "-l", point)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Removes the empty cgroups of that name from every hierarchy.
    static void removeCgroups(String name) {
        try (var hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
            hierarchies
                    .flatMap(hierarchy -> Stream.of(hierarchy.resolve(name), hierarchy))
                    .filter(cgroup -> cgroup.endsWith(name))
                    .filter(Files::isDirectory)
                    .forEach(cgroup -> {
                        if (!cgroup.toFile().delete()) {
                            System.err.println("left behind: " + cgroup);
                        }
                    });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Deletes links and never follows them.
    static void deleteTree(Path root) {
        try {
            FileTrees.delete(root);
        } catch (IOException failure) {
            System.err.println("left behind: " + failure.getMessage());
        }
    }
}
