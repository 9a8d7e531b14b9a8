package dev.vivarium.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/// PostgreSQL server of Debian's package, on a free port and in a temporary directory. Thread-safe.
///
/// Closing it removes everything.
public final class PostgresServer implements AutoCloseable {
    private static final Path VERSIONS = Path.of("/usr/lib/postgresql");

    /// Below the ephemeral ports, which the kernel assigns to connections.
    private static final int LOWEST_PORT = 12_000;

    private static final int HIGHEST_PORT = 32_000;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path ON_DISK = Path.of(System.getProperty("java.io.tmpdir"));
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final long ROOM = 2L << 30;

    private final Path directory;
    private final int port;
    private final List<String> command;
    private volatile Process process;
    private final AtomicInteger databases = new AtomicInteger();

    private PostgresServer(Path directory, int port, List<String> command) throws IOException {
        this.directory = directory;
        this.port = port;
        this.command = List.copyOf(command);
        this.process = spawn(directory, this.command);
    }

    private static Process spawn(Path directory, List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()))
                .start();
    }

    private static final class Shared {
        // The data is temporary. On a busy disk, creating and removing its thousands of files takes minutes.
        static final PostgresServer SERVER = start(roomInMemory() ? MEMORY : ON_DISK, "fsync=off");

        private static boolean roomInMemory() {
            try {
                return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() > ROOM;
            } catch (IOException e) {
                return false;
            }
        }

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(SERVER::close, "stop-postgres"));
        }
    }

    /// Returns the server of this process. The first call starts it, and it ends with the process.
    public static PostgresServer shared() {
        return Shared.SERVER;
    }

    /// Starts a server on the disk, as durable as in production. Returns when it accepts connections.
    public static PostgresServer start() {
        return start(ON_DISK);
    }

    private static PostgresServer start(Path parent, String... settings) {
        try {
            Path directory = Files.createTempDirectory(parent, "viv-postgres");
            run(List.of("chown", "postgres", directory.toString()));
            run(asPostgres("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--pgdata=" + directory));
            int port = freePort();
            var command = asPostgres("postgres", "-D", directory.toString(), "-p", Integer.toString(port));
            var all = Stream.concat(
                    Stream.of("listen_addresses=127.0.0.1", "unix_socket_directories="), Stream.of(settings));
            all.forEach(setting -> command.addAll(List.of("-c", setting)));
            var server = new PostgresServer(directory, port, command);
            server.awaitReady();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL did not start; scripts/setup tests installs it", e);
        }
    }

    /// Creates an empty database and returns its JDBC URL.
    public String newDatabase() {
        String name = "vivarium" + databases.incrementAndGet();
        execute("create database " + name);
        return url(name);
    }

    /// Closes every connection to every database, as a restart of the server does.
    public void cutConnections() {
        execute("select pg_terminate_backend(pid) from pg_stat_activity"
                + " where pid <> pg_backend_pid() and backend_type = 'client backend'");
    }

    /// Stops the server and keeps its data.
    public void stop() {
        try {
            run(List.of("kill", "-INT", Long.toString(process.pid())));
            process.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Starts the server after [#stop], with its data and on the same port.
    public void startAgain() {
        try {
            process = spawn(directory, command);
            awaitReady();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void execute(String statement) {
        try (var connection = connect()) {
            connection.createStatement().execute(statement);
        } catch (SQLException e) {
            throw new IllegalStateException(statement, e);
        }
    }

    private String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=postgres";
    }

    private Connection connect() throws SQLException {
        var source = new PGSimpleDataSource();
        source.setUrl(url("postgres"));
        return source.getConnection();
    }

    private void awaitReady() throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try (var _ = connect()) {
                return;
            } catch (SQLException e) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IOException(Files.readString(directory.resolve("log")), e);
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Runs a program as `postgres`, because the server refuses to run as root.
    private static List<String> asPostgres(String program, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        command.add(newestBinaries().resolve(program).toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static Path newestBinaries() throws IOException {
        try (var versions = Files.list(VERSIONS)) {
            return versions.max(Comparator.comparingInt(
                            path -> Integer.parseInt(path.getFileName().toString())))
                    .orElseThrow(() -> new IOException("there is nothing in " + VERSIONS))
                    .resolve("bin");
        }
    }

    /// Returns a port that the kernel does not assign by itself. Otherwise, an outgoing connection could take it
    /// before the server.
    private static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT);
            try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return port;
            } catch (IOException e) {
                // The port is in use.
            }
        }
    }

    private static void run(List<String> command) throws IOException {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /// Ends the server as if it had crashed, which waits neither for its clients nor for the disk. Removes its
    /// directory. Idempotent.
    @Override
    public void close() {
        try {
            if (process.isAlive()) {
                run(List.of("kill", "-QUIT", Long.toString(process.pid())));
                process.waitFor();
            }
            if (Files.exists(directory)) {
                run(List.of("rm", "-rf", directory.toString()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
