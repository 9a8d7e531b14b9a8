package dev.vivarium.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Server process, started as users start it: `bin/viv serve`, with a temporary home. Thread-safe.
final class VivServer implements AutoCloseable {
    private static final String READY = "ready on http://";
    private static final Duration STOP_TIME = Duration.ofSeconds(60);
    private static final int WARM_UP_SESSIONS = 20;
    private static final int WARM_UP_COMMANDS = 50;

    private final Path launcher;
    private final Path home;
    private final Process process;
    private final int port;
    private final String key;
    private final Duration startTime;
    private boolean closed;

    private VivServer(Path launcher, Path home, Process process, int port, String key, Duration startTime) {
        this.launcher = launcher;
        this.home = home;
        this.process = process;
        this.port = port;
        this.key = key;
        this.startTime = startTime;
    }

    /// Starts a server on `home` with extra settings from `environment`. Returns when the server is ready.
    static VivServer start(Path launcher, Path home, Map<String, String> environment) {
        try {
            Path log = home.resolve("server.log");
            var builder = new ProcessBuilder(launcher.toString(), "serve", "--port", "0", "--home", home.toString())
                    .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().put("VIV_RATE_LIMITS", "off");
            builder.environment().putAll(environment);
            long started = System.nanoTime();
            var process = builder.start();
            int port = awaitReady(process, log);
            var took = Duration.ofNanos(System.nanoTime() - started);
            String key = Files.readString(home.resolve("credentials")).strip();
            return new VivServer(launcher, home, process, port, key, took);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Returns the loopback port.
    int port() {
        return port;
    }

    /// Returns the admin key.
    String key() {
        return key;
    }

    private static int awaitReady(Process process, Path log) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int at = line.indexOf(READY);
            if (at >= 0) {
                String port = line.substring(line.indexOf(':', at + READY.length()) + 1)
                        .strip();
                // If nothing reads its output, the server blocks at its next line.
                Thread.ofPlatform().daemon().name("server-log").start(() -> drain(lines));
                return Integer.parseInt(port);
            }
        }
        throw new IllegalStateException("the server did not start:\n" + Programs.tail(log));
    }

    private static void drain(BufferedReader lines) {
        try (lines) {
            while (lines.readLine() != null) {
                // The measurement ignores the log on standard output.
            }
        } catch (IOException ended) {
            // The server has exited.
        }
    }

    Http connect() {
        return connect(key);
    }

    /// Connects with another credential.
    Http connect(String credential) {
        return Http.tcp(port, credential);
    }

    String address() {
        return "http://127.0.0.1:" + port;
    }

    Path home() {
        return home;
    }

    long pid() {
        return process.pid();
    }

    /// Returns the time from the start of the process to the line that reports readiness.
    Duration startTime() {
        return startTime;
    }

    void awaitPool(int size) {
        for (int attempt = 0; attempt < 3000; attempt++) {
            if (health().text().replace(" ", "").contains("\"pool_available\":" + size)) {
                return;
            }
            Programs.pause(Duration.ofMillis(20));
        }
        throw new IllegalStateException("the pool never held " + size + " sandboxes");
    }

    /// Calls `/health`, which closes its connection after the response.
    Http.Answer health() {
        try (var http = connect()) {
            return http.get("/health");
        }
    }

    /// Lets the server's JVM compile the measured code. A server runs for weeks; other measurements cover its first
    /// second.
    void warmUp() {
        for (int i = 0; i < WARM_UP_SESSIONS; i++) {
            try (var http = connect()) {
                String session = create(http, "warm-up");
                for (int j = 0; j < WARM_UP_COMMANDS; j++) {
                    execute(http, session, "true");
                    try (var stream = connect()) {
                        awaitOutput(stream, session, "echo ready", "ready");
                    }
                }
                cleanup(http, session);
            }
        }
    }

    /// Creates sessions of numbered threads and returns their ids.
    List<String> createAll(String prefix, int count) {
        var sessions = new ArrayList<String>();
        try (var http = connect()) {
            for (int i = 0; i < count; i++) {
                sessions.add(create(http, prefix + i));
            }
        }
        return sessions;
    }

    /// Creates a session and returns its id.
    static String create(Http http, String thread) {
        String body = "{\"user_id\":\"bench\",\"thread_id\":\"" + thread + "\"}";
        return http.post("/create_session", body).expect(201).member("session_id");
    }

    /// Runs a command in a session to its end. The command must succeed.
    static void execute(Http http, String session, String command) {
        String body = "{\"session_id\":\"" + session + "\",\"command\":\"" + command + "\"}";
        String answer = http.post("/execute", body).expect(200).text();
        if (!answer.contains("\"exit_code\":0") && !answer.contains("\"exit_code\": 0")) {
            throw new IllegalStateException("the command failed: " + answer);
        }
    }

    /// Runs a command as an event stream and returns after it has written `text`. The connection is then not
    /// reusable.
    static void awaitOutput(Http http, String session, String command, String text) {
        String body = "{\"session_id\":\"" + session + "\",\"command\":\"" + command + "\"}";
        http.awaitEvent("/execute", body, text);
    }

    static void upload(Http http, String session, String name, byte[] content) {
        String boundary = "vivarium-bench-boundary";
        String part = "--" + boundary + "\r\nContent-Disposition: form-data; name=";
        String head = part + "\"session_id\"\r\n\r\n" + session + "\r\n" + part + "\"file\"; filename=\"" + name
                + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
        http.exchange(
                        "POST",
                        "/upload_file",
                        "multipart/form-data; boundary=" + boundary,
                        head.getBytes(StandardCharsets.UTF_8),
                        content,
                        ("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8))
                .expect(200);
    }

    static Http.Received download(Http http, String session, String name) {
        String body = "{\"session_id\":\"" + session + "\",\"filename\":\"" + name + "\"}";
        return http.receive("POST", "/download_file", "application/json", body.getBytes(StandardCharsets.UTF_8));
    }

    static void cleanup(Http http, String session) {
        http.post("/cleanup", "{\"session_id\":\"" + session + "\"}").expect(200);
    }

    /// Stops the server gracefully. Its sandboxes keep running.
    void stop() {
        Programs.stop(process, STOP_TIME);
    }

    /// Kills the server. Its sandboxes keep running, for the next server on its home.
    synchronized void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        closed = true;
    }

    /// Ends the server and everything it started. Idempotent.
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        stop();
        // In its own session: Ctrl-C ends this program and its children, but must not interrupt the purge.
        Programs.runQuietly(
                List.of("setsid", "--wait", launcher.toString(), "purge", "--yes", "--home", home.toString()));
        Programs.deleteTree(home);
        closed = true;
    }
}
