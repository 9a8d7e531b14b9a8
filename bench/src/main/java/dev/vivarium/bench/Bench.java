package dev.vivarium.bench;

import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.engine.LocalConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Shared environment of the measurements. Thread-safe.
///
/// It holds the launcher under test, the root file system, the baseline, the Docker Engine if there is one, and the
/// options. Closing it removes everything except the prepared root file system.
final class Bench implements AutoCloseable {
    private static final Duration CLOSE_TIME = Duration.ofMinutes(3);

    private final Options options;
    private final Path directory;
    private final RootFileSystem root;
    private final Bare bare = new Bare();
    private final Optional<Docker> docker;
    private final AtomicInteger homes = new AtomicInteger();
    private final List<VivServer> servers = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean abandoned;

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
            // After Ctrl-C, the sandboxes and the Docker Engine would outlive this process.
            Runtime.getRuntime().addShutdownHook(new Thread(bench::abandon, "bench-abandon"));
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

    /// Returns the number of rounds: `full`, or a tenth of it in a quick run, but at least three.
    int rounds(int full) {
        return options.length() == Options.Length.FULL ? full : Math.max(3, full / 10);
    }

    /// Creates a home directory with the prepared root file system.
    Path newHome() {
        try {
            Path home = Files.createDirectory(directory.resolve("h" + homes.incrementAndGet()));
            root.showIn(home);
            return home;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Starts a server on a new home. `settings` are environment variables.
    VivServer startServer(Map<String, String> settings) {
        return startServer(newHome(), settings);
    }

    VivServer startServer(Path home, Map<String, String> settings) {
        if (abandoned) {
            throw new IllegalStateException("the benchmark was ended");
        }
        var environment = new HashMap<>(settings);
        environment.put("VIV_IMAGE", image());
        var server = VivServer.start(options.launcher(), home, environment);
        servers.add(server);
        return server;
    }

    /// Runs the command line under test to its end. The command must succeed.
    void viv(Map<String, String> environment, String... arguments) {
        var command = new ArrayList<>(List.of(options.launcher().toString()));
        command.addAll(List.of(arguments));
        Programs.runQuietly(command, environment);
    }

    /// Opens a client in local mode on a new home, without a pool.
    SandboxClient openLocal() {
        return SandboxClient.local(LocalConfig.standard()
                .withHome(newHome())
                .withImage(image())
                .withPoolSize(0)
                .withMaxSandboxes(128));
    }

    /// Reports whether the user interrupted the benchmark.
    boolean isAbandoned() {
        return abandoned;
    }

    /// Makes the current measurement fail, and waits until its worker has cleaned up.
    private void abandon() {
        if (closed.getCount() == 0) {
            return;
        }
        abandoned = true;
        servers.forEach(VivServer::stop);
        try {
            if (!closed.await(CLOSE_TIME.toMillis(), TimeUnit.MILLISECONDS)) {
                System.err.println("left behind: " + directory + "; end what is in it with viv purge --home");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Keeps directories if their servers or sandboxes could not be ended, because ending them later needs these
    /// directories.
    @Override
    public void close() {
        boolean ended = true;
        for (var server : servers) {
            ended &= Programs.attempt(server::close);
        }
        docker.ifPresent(Docker::close);
        if (ended) {
            Programs.attempt(() -> Programs.deleteTree(directory));
        }
        closed.countDown();
    }
}
