package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Python interpreter of the host, with pip. Immutable.
///
/// Machines see interpreters below `/usr`; any other must be copied into the image.
///
/// @param program the file to run
/// @param prefix  installation directory
/// @param minor   12 for Python 3.12
record Interpreter(Path program, Path prefix, int minor) {
    private static final int NEWEST = 19;
    private static final List<Path> SEEN_BY_MACHINES = List.of(Path.of("/usr/bin"), Path.of("/usr/local/bin"));

    /// Parts of an installation that agents do not need; they are most of its size.
    private static final List<String> LEFT_OUT =
            List.of("test", "idlelib", "turtledemo", "tkinter", "ensurepip", "lib2to3", "site-packages");

    private static final String QUESTION = "import sys, pip; print(sys.prefix); print(sys.version_info.minor)";

    /// Script that tests a copy and prints the files that it has loaded.
    private static final String TRIAL = "import ssl, ctypes, zlib, _socket; print(open('/proc/self/maps').read())";

    /// Returns the first interpreter that is new enough: first those that machines see, then others that are
    /// installed on the host.
    static Optional<Interpreter> find(int minMinor) {
        return Stream.concat(visibleInMachines(minMinor), installed())
                .flatMap(program -> examine(program).stream())
                .filter(found -> found.minor >= minMinor)
                .findFirst();
    }

    /// Returns the interpreter that is installed in `prefix`.
    static Interpreter at(Path prefix) throws IOException {
        return examine(prefix.toAbsolutePath().resolve("bin/python3"))
                .orElseThrow(() -> new IOException(prefix + " is no Python with pip: bin/python3 -m pip must run"));
    }

    boolean isVisibleInMachines() {
        return SEEN_BY_MACHINES.contains(program.getParent());
    }

    /// Copies the interpreter to `target`, in a form that runs from any mount point.
    void copyTo(Path target) throws IOException {
        var name = "python3." + minor;
        var binaries = Skeleton.directory(Skeleton.directory(target).resolve("bin"));
        var libraries = Skeleton.directory(target.resolve("lib"));
        Files.copy(prefix.resolve("bin").resolve(name), binaries.resolve(name));
        Files.createSymbolicLink(binaries.resolve("python3"), Path.of(name));
        FileTrees.copy(prefix.resolve("lib").resolve(name), libraries.resolve(name));
        var modules = libraries.resolve(name);
        for (var part : LEFT_OUT) {
            FileTrees.delete(modules.resolve(part));
        }
        forEach(modules, "config-*", FileTrees::delete);
        Skeleton.directory(modules.resolve("site-packages"));
        forEach(
                prefix.resolve("lib"),
                "libpython*.so*",
                file -> FileTrees.copy(file, libraries.resolve(file.getFileName())));
        relocate(binaries.resolve(name));
        requireIndependent(binaries.resolve(name));
    }

    /// Makes an interpreter load its shared library from beside itself, not from its original prefix. The new path
    /// is shorter than any such prefix and overwrites it in the string table.
    private void relocate(Path copy) throws IOException {
        var bytes = Files.readAllBytes(copy);
        var text = new String(bytes, StandardCharsets.ISO_8859_1);
        var old = prefix.resolve("lib") + "\0";
        var found = text.indexOf("\0" + old);
        var beside = "$ORIGIN/../lib";
        if (found >= 0 && beside.length() < old.length()) {
            var replacement = beside + "\0".repeat(old.length() - beside.length());
            System.arraycopy(replacement.getBytes(StandardCharsets.ISO_8859_1), 0, bytes, found + 1, old.length());
            Files.write(copy, bytes);
        }
        Files.setAttribute(copy, "unix:mode", 0755);
    }

    private void requireIndependent(Path copy) throws IOException {
        var maps = new ArrayList<String>();
        BuildTool.run("the copy of " + prefix, List.of(copy.toString(), "-I", "-c", TRIAL), Map.of(), maps::add);
        if (maps.stream().anyMatch(line -> line.contains(" " + prefix + "/"))) {
            throw new IOException("the Python in " + prefix + " cannot be moved: it loads its libraries from there");
        }
    }

    private static Stream<Path> visibleInMachines(int minMinor) {
        var names = new ArrayList<>(List.of("python3"));
        for (int minor = minMinor; minor <= NEWEST; minor++) {
            names.add("python3." + minor);
        }
        return SEEN_BY_MACHINES.reversed().stream()
                .flatMap(directory -> names.stream().map(directory::resolve));
    }

    /// Returns the interpreters of pyenv, uv and `/opt`, oldest first: packages have more wheels for older
    /// releases.
    private static Stream<Path> installed() {
        var home = Path.of(System.getProperty("user.home"));
        var found = new ArrayList<Path>();
        for (var place :
                List.of(home.resolve(".pyenv/versions"), home.resolve(".local/share/uv/python"), Path.of("/opt"))) {
            try {
                forEach(place, "{3.*,cpython-3.*,python3*}", prefix -> found.add(prefix.resolve("bin/python3")));
            } catch (IOException e) {
                // The directory does not exist.
            }
        }
        return found.stream().sorted((one, other) -> Integer.compare(minorOf(one), minorOf(other)));
    }

    private static int minorOf(Path program) {
        return examine(program).map(Interpreter::minor).orElse(0);
    }

    private static Optional<Interpreter> examine(Path program) {
        if (!Files.isExecutable(program)) {
            return Optional.empty();
        }
        var answer = new ArrayList<String>();
        try {
            BuildTool.run("python", List.of(program.toString(), "-c", QUESTION), Map.of(), answer::add);
            return Optional.of(new Interpreter(program, Path.of(answer.get(0)), Integer.parseInt(answer.get(1))));
        } catch (IOException | RuntimeException e) {
            return Optional.empty(); // Not Python 3, or without pip.
        }
    }

    private static void forEach(Path directory, String glob, Step step) throws IOException {
        try (DirectoryStream<Path> matches = Files.newDirectoryStream(directory, glob)) {
            for (var match : matches) {
                step.take(match);
            }
        }
    }

    private interface Step {
        void take(Path file) throws IOException;
    }
}
