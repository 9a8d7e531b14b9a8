package dev.vivarium.server.console;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;

/// Files of the console, fixed at the start of the server. Immutable.
public final class Pages {
    /// Single page of the console.
    static final String INDEX = "index.html";

    private static final String ROOT = "dev/vivarium/console/";

    private final Set<String> names;
    private final Source source;

    /// Source of the files.
    private interface Source {
        InputStream open(String name) throws IOException;
    }

    private Pages(Set<String> names, Source source) {
        this.names = Set.copyOf(names);
        this.source = source;
    }

    /// Returns an empty set of files, for a server without a console.
    public static Pages none() {
        return new Pages(Set.of(), name -> {
            throw new FileNotFoundException(name);
        });
    }

    /// Returns the console on the class path, or [#none].
    public static Pages onClassPath() {
        return of(Pages.class.getClassLoader());
    }

    /// Returns the console of a class loader, or [#none].
    public static Pages of(ClassLoader loader) {
        return Optional.ofNullable(loader.getResource(ROOT + INDEX))
                .map(index -> of(loader, index))
                .orElseGet(Pages::none);
    }

    private static Pages of(ClassLoader loader, URL index) {
        try {
            if (index.getProtocol().equals("file")) {
                return in(Path.of(URI.create(index.toString())).resolveSibling("."));
            }
            return new Pages(listed(index), name -> opened(loader, name));
        } catch (IOException e) {
            throw new UncheckedIOException("listing the console", e);
        }
    }

    private static InputStream opened(ClassLoader loader, String name) throws IOException {
        return Optional.ofNullable(loader.getResourceAsStream(ROOT + name))
                .orElseThrow(() -> new FileNotFoundException(name));
    }

    private static Set<String> listed(URL index) throws IOException {
        var names = new TreeSet<String>();
        if (index.openConnection() instanceof JarURLConnection connection) {
            // A cached jar would be shared with the class loader, and this code closes the jar.
            connection.setUseCaches(false);
            try (var jar = connection.getJarFile()) {
                jar.stream()
                        .filter(entry -> !entry.isDirectory())
                        .map(JarEntry::getName)
                        .filter(name -> name.startsWith(ROOT))
                        .forEach(name -> names.add(name.substring(ROOT.length())));
            }
        }
        return names;
    }

    /// Returns the console in a directory.
    public static Pages in(Path directory) {
        Path root = directory.toAbsolutePath().normalize();
        var names = new TreeSet<String>();
        try (var files = Files.walk(root)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> names.add(root.relativize(file).toString().replace('\\', '/')));
        } catch (IOException e) {
            throw new UncheckedIOException("listing the console", e);
        }
        return new Pages(names, name -> Files.newInputStream(root.resolve(name)));
    }

    /// Reports whether the server has a console.
    public boolean hasConsole() {
        return names.contains(INDEX);
    }

    Set<String> names() {
        return names;
    }

    /// Returns the content of a file. The file must exist.
    byte[] read(String name) {
        if (!names.contains(name)) {
            throw new IllegalArgumentException("there is no such file");
        }
        try (InputStream in = source.open(name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the console", e);
        }
    }
}
