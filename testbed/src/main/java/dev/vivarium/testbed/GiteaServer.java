package dev.vivarium.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/// Gitea on a free port, with an account and its token, in a temporary directory. Thread-safe.
///
/// Closing it removes everything. The first use on a machine builds the program, which takes minutes.
public final class GiteaServer implements AutoCloseable {
    public static final String USER = "ada";

    private static final int LOWEST_PORT = 12_000;
    private static final int HIGHEST_PORT = 32_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Path SCRIPT = Path.of("../scripts/gitea");
    private static final String UNPRIVILEGED = "nobody";

    private final Path directory;
    private final int port;
    private final Process process;
    private final String token;

    private GiteaServer(Path directory, int port, Process process, String token) {
        this.directory = directory;
        this.port = port;
        this.process = process;
        this.token = token;
    }

    /// Starts a server. Returns when it accepts requests.
    public static GiteaServer start() {
        try {
            Path directory = Files.createTempDirectory("viv-gitea");
            int port = freePort();
            install(directory, port);
            String token = createUser(directory);
            Process process = new ProcessBuilder(command(directory, "web"))
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
            var server = new GiteaServer(directory, port, process, token);
            server.awaitReady();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("Gitea did not start", e);
        }
    }

    /// Copies the program: Gitea refuses to run as root, and another user cannot read the cache of root.
    private static void install(Path directory, int port) throws IOException {
        Path program = Path.of(run(List.of(SCRIPT.toRealPath().toString())).strip());
        run(List.of("cp", "-r", program + "/.", directory.toString()));
        Files.writeString(directory.resolve("app.ini"), settings(directory, port));
        if (isRoot()) {
            run(List.of("chown", "-R", UNPRIVILEGED, directory.toString()));
        }
        run(command(directory, "migrate"));
    }

    /// Returns the token of the new account.
    private static String createUser(Path directory) throws IOException {
        String create = "admin user create --password correct-horse-1 --email ada@example.com --admin"
                + " --must-change-password=false --username " + USER;
        run(command(directory, create.split(" ")));
        String issue = "admin user generate-access-token --token-name tests --scopes all --raw --username " + USER;
        return run(command(directory, issue.split(" ")))
                .lines()
                .toList()
                .getLast()
                .strip();
    }

    private static String settings(Path directory, int port) {
        return """
                RUN_USER = %2$s
                WORK_PATH = %1$s/work
                [server]
                HTTP_ADDR = 127.0.0.1
                HTTP_PORT = %3$d
                ROOT_URL = http://127.0.0.1:%3$d/
                STATIC_ROOT_PATH = %1$s
                OFFLINE_MODE = true
                DISABLE_SSH = true
                [database]
                DB_TYPE = sqlite3
                PATH = %1$s/gitea.db
                [security]
                INSTALL_LOCK = true
                [repository]
                ROOT = %1$s/repositories
                DEFAULT_BRANCH = main
                [log]
                LEVEL = Warn
                """.formatted(directory, isRoot() ? UNPRIVILEGED : System.getProperty("user.name"), port);
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> command(Path directory, String... arguments) {
        var command = new ArrayList<String>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=" + UNPRIVILEGED, "--regid=nogroup", "--clear-groups"));
        }
        command.addAll(List.of("env", "HOME=" + directory, "GIT_CONFIG_NOSYSTEM=1"));
        command.addAll(List.of(directory + "/gitea", "--config", directory + "/app.ini"));
        command.addAll(List.of(arguments));
        return command;
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /// Returns an access token of [#USER] with all rights.
    public String token() {
        return token;
    }

    private void awaitReady() throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                var connection = (HttpURLConnection)
                        uri().resolve("/api/v1/version").toURL().openConnection();
                if (connection.getResponseCode() == 200) {
                    return;
                }
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IOException(Files.readString(directory.resolve("log")), e);
                }
            }
            pause();
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

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

    private static String run(List<String> command) throws IOException {
        var process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        return output;
    }

    /// Ends the server and removes its directory. Idempotent.
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            run(List.of("rm", "-rf", directory.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
