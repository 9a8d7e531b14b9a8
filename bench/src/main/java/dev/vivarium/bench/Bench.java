package dev.vivarium.bench;

import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.engine.LocalConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// What every measurement shares: the launcher under test, the root file system, the yardstick, the Docker Engine if
/// there is one, and how long to measure. Closing it removes all of it but the prepared root file system. Thread-safe.
final class Bench implements AutoCloseable {
    private final Options options;
    private final Path directory;
    private final RootFileSystem root;
    private final Bare bare = new Bare();
    private final Optional<Docker> docker;
    private final AtomicInteger homes = new AtomicInteger();
    private final List<VivServer> servers = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private Bench(Options options, Path directory, RootFileSystem root, Optional<Docker> docker) {
        this.options = options;
        this.directory = directory;
        this.root = root;
        this.docker = docker;
    }

    static Bench open(Options options) {
        try {
            RootFileSystem root = RootFileSystem.prepare(options.launcher());
            Path directory = Files.createTempDirectory("viv-bench");
            Optional<Docker> docker = options.docker() == Options.Engine.NEVER
                    ? Optional.empty()
                    : root.directory().flatMap(files -> Docker.start(directory.resolve("docker"), files));
            var bench = new Bench(options, directory, root, docker);
            // For the user who presses ^C: the sandboxes and the Docker Engine would outlive this process.
            Runtime.getRuntime().addShutdownHook(new Thread(bench::close, "bench-close"));
            return bench;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    Bare bare() {
        return bare;
    }

    Optional<Docker> docker() {
        return docker;
    }

    String image() {
        return root.image();
    }

    /// The number of rounds to measure: `full`, or a tenth of it in a quick run, but never less than three.
    int rounds(int full) {
        return options.length() == Options.Length.FULL ? full : Math.max(3, full / 10);
    }

    /// A new home directory that sees the prepared root file system.
    Path newHome() {
        try {
            Path home = Files.createDirectory(directory.resolve("h" + homes.incrementAndGet()));
            root.showIn(home);
            return home;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// A server on a home of its own; `settings` are environment variables.
    VivServer startServer(Map<String, String> settings) {
        return startServer(newHome(), settings);
    }

    VivServer startServer(Path home, Map<String, String> settings) {
        var environment = new HashMap<>(settings);
        environment.put("VIV_IMAGE", image());
        var server = VivServer.start(options.launcher(), home, environment);
        servers.add(server);
        return server;
    }

    /// A client in local mode on a home of its own, with no sandbox waiting.
    SandboxClient openLocal() {
        return SandboxClient.local(LocalConfig.standard()
                .withHome(newHome())
                .withImage(image())
                .withPoolSize(0)
                .withMaxSandboxes(128));
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        servers.forEach(server -> Programs.attempt(server::close));
        docker.ifPresent(Docker::close);
        Programs.attempt(() -> Programs.deleteTree(directory));
    }
}
