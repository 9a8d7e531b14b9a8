package dev.vivarium.core.store;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// A real PostgreSQL server for the tests of this process, durable as it is in production; each test has a database of
/// its own. It is gone when the last test has run. Register it as a static extension.
public final class PostgresServer implements BeforeAllCallback {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private Running running;

    /// The server itself.
    private record Running(Path directory, int port, Process process) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            process.destroy();
            process.waitFor();
            try (var paths = Files.walk(directory)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        running = context.getRoot()
                .getStore(ExtensionContext.Namespace.GLOBAL)
                .computeIfAbsent(PostgresServer.class, key -> start(), Running.class);
    }

    /// The address of a new, empty database.
    public String newDatabase() {
        String name = "test" + DATABASES.incrementAndGet();
        try (var connection = new Postgres(url("postgres"), PATIENCE).connect()) {
            connection.setAutoCommit(true);
            connection.createStatement().execute("create database " + name);
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
        return url(name);
    }

    private String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + running.port + "/" + database + "?user=postgres";
    }

    private static Running start() {
        try {
            Path directory = Files.createTempDirectory("viv-postgres");
            run(List.of("chown", "postgres", directory.toString()));
            run(asPostgres("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--pgdata=" + directory));
            int port = freePort();
            var process = new ProcessBuilder(asPostgres(
                            "postgres",
                            "-D",
                            directory.toString(),
                            "-c",
                            "listen_addresses=127.0.0.1",
                            "-c",
                            "unix_socket_directories=",
                            "-p",
                            Integer.toString(port)))
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
            var server = new Running(directory, port, process);
            awaitReady(port);
            return server;
        } catch (IOException e) {
            throw new IllegalStateException("PostgreSQL did not start; make setup installs it", e);
        }
    }

    private static void awaitReady(int port) {
        org.awaitility.Awaitility.await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
            var url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
            new Postgres(url, PATIENCE).connect().close();
        });
    }

    /// It refuses to run as root.
    private static List<String> asPostgres(String program, String... arguments) throws IOException {
        var command =
                new java.util.ArrayList<>(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        command.add(newestBinaries().resolve(program).toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static Path newestBinaries() throws IOException {
        try (var versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            return versions.max(Comparator.comparingInt(
                            path -> Integer.parseInt(path.getFileName().toString())))
                    .orElseThrow()
                    .resolve("bin");
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void run(List<String> command) throws IOException {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
