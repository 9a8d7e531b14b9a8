package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/// The image `worker`: SDKs of agents, as a layer over `host`. Confined to one thread.
///
/// In a machine, a runtime imports `/opt/vivarium/RUNTIME`. Its interpreter is `/opt/vivarium/python`, if the host's
/// `python3` is not suitable.
public final class WorkerImage {
    public static final String NAME = "worker";

    private static final String PYTHON = "python";
    private static final Path STANDARD = Path.of("/usr/bin/python3");

    private final Path layer;
    private final Consumer<String> progress;

    WorkerImage(Path layer, Consumer<String> progress) {
        this.layer = layer;
        this.progress = progress;
    }

    /// Agent runtime that the worker supports.
    public enum Runtime {
        CLAUDE("claude", 11),
        OPENHANDS("openhands", 12);

        private final String label;
        private final int minMinor;

        Runtime(String label, int minMinor) {
            this.label = label;
            this.minMinor = minMinor;
        }

        public String label() {
            return label;
        }
    }

    /// Build options. Immutable.
    ///
    /// Without `runtimes`, the build includes all that the host supports. Without `python`, it searches for an
    /// interpreter.
    public record Order(Optional<Set<Runtime>> runtimes, Optional<Path> python) {}

    void build(Order order) throws IOException {
        var content =
                Skeleton.directory(Skeleton.directory(layer.resolve("opt")).resolve("vivarium"));
        var wanted = List.copyOf(order.runtimes().orElse(Set.of(Runtime.values()))).stream()
                .sorted()
                .toList();
        var interpreter = interpreter(order, wanted);
        var possible = wanted.stream()
                .filter(runtime -> runtime.minMinor <= interpreter.minor())
                .toList();
        progress.accept("using " + interpreter.program() + " (3." + interpreter.minor() + ")");
        var contents = new ArrayList<String>();
        for (var runtime : possible) {
            install(interpreter, runtime, content.resolve(runtime.label()));
            contents.add(runtime.label() + " " + String.join(" ", packages(runtime)));
        }
        provide(interpreter, content.resolve(PYTHON));
        open(content);
        Layer.mark(layer, String.join("\n", contents) + "\n");
    }

    /// Selects one interpreter for all runtimes. If none is new enough for all, selects one for the runtimes that
    /// it supports.
    private Interpreter interpreter(Order order, List<Runtime> wanted) throws IOException {
        int max = wanted.stream().mapToInt(runtime -> runtime.minMinor).max().orElseThrow();
        int min = wanted.stream().mapToInt(runtime -> runtime.minMinor).min().orElseThrow();
        if (order.python().isPresent()) {
            var chosen = Interpreter.at(order.python().get());
            if (chosen.minor() < max) {
                throw new IOException(order.python().get() + " is Python 3." + chosen.minor() + "; " + needs(max));
            }
            return chosen;
        }
        var best = Interpreter.find(max);
        if (best.isEmpty() && order.runtimes().isEmpty() && max > min) {
            progress.accept("left out: openhands; " + needs(max));
            best = Interpreter.find(min);
            max = min;
        }
        int missing = max;
        return best.orElseThrow(() -> new IOException("no Python: " + needs(missing)));
    }

    private static String needs(int minor) {
        return "a Python 3." + minor + " or newer with pip is needed: install one (Debian 13 has python3.13 and"
                + " python3-pip, `pyenv install 3." + Math.max(minor, Runtime.OPENHANDS.minMinor)
                + "` makes one), or name its directory with --python";
    }

    private void install(Interpreter interpreter, Runtime runtime, Path target) throws IOException {
        var packages = packages(runtime);
        progress.accept("installing " + String.join(" ", packages));
        var command = new ArrayList<>(List.of(interpreter.program().toString(), "-m", "pip", "install"));
        command.addAll(List.of("--disable-pip-version-check", "--no-input", "--progress-bar=off"));
        command.addAll(List.of("--no-warn-script-location", "--root-user-action=ignore"));
        command.addAll(List.of("--target", target.toString()));
        command.addAll(packages);
        var constraints = Files.createTempFile("vivarium-", ".lock");
        command.addAll(List.of("--constraint", constraints.toString()));
        try {
            Files.writeString(constraints, resource(runtime, ".lock"));
            BuildTool.run("pip", command, Map.of(), progress);
        } catch (IOException e) {
            throw new IOException(
                    runtime.label() + " cannot be installed; is the package registry reachable (PIP_INDEX_URL names"
                            + " another one)? " + e.getMessage(),
                    e);
        } finally {
            Files.delete(constraints);
        }
        // Console scripts, whose first line contains a path of the build.
        FileTrees.delete(target.resolve("bin"));
    }

    private static List<String> packages(Runtime runtime) throws IOException {
        return resource(runtime, ".txt")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
    }

    private static String resource(Runtime runtime, String suffix) throws IOException {
        try (var in = WorkerImage.class.getResourceAsStream(runtime.label() + suffix)) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void provide(Interpreter interpreter, Path place) throws IOException {
        if (!interpreter.isVisibleInMachines()) {
            progress.accept("copying " + interpreter.prefix());
            interpreter.copyTo(place);
        } else if (!interpreter.program().equals(STANDARD)) {
            var binaries = Skeleton.directory(Skeleton.directory(place).resolve("bin"));
            Files.createSymbolicLink(binaries.resolve("python3"), interpreter.program());
        }
    }

    /// Makes the content world-readable: machines run as other users, and the umask of the build may be
    /// restrictive.
    private static void open(Path content) throws IOException {
        try (var files = Files.walk(content)) {
            files.filter(file -> !Files.isSymbolicLink(file)).forEach(WorkerImage::readable);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void readable(Path file) {
        try {
            var permissions = Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
            int mode = permissions.contains(PosixFilePermission.OWNER_EXECUTE) ? 0755 : 0644;
            Files.setAttribute(file, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
