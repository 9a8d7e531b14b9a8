package dev.vivarium.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A server as users start it: `bin/viv serve` in a process of its own, with a home of its own that is gone afterwards.
/// Thread-safe.
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

    /// Starts a server on `home` with extra settings from `environment` and returns when it says that it is ready.
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

    /// Where it listens, on the loopback.
    int port() {
        return port;
    }

    /// The admin's key.
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
                // A server that nobody reads would stop at its next line.
                Thread.ofPlatform().daemon().name("server-log").start(() -> drain(lines));
                return Integer.parseInt(port);
            }
        }
        throw new IllegalStateException("the server did not start:\n" + Programs.tail(log));
    }

    private static void drain(BufferedReader lines) {
        try (lines) {
            while (lines.readLine() != null) {
                // Its log on standard output is of no interest here.
            }
        } catch (IOException ended) {
            // The server is gone.
        }
    }

    Http connect() {
        return connect(key);
    }

    /// A connection for somebody with another credential.
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

    /// From the start of its process to the line that says that it is ready.
    Duration startTime() {
        return startTime;
    }

    /// Waits until the warm pool is full.
    void awaitPool(int size) {
        for (int attempt = 0; attempt < 3000; attempt++) {
            if (health().text().replace(" ", "").contains("\"pool_available\":" + size)) {
                return;
            }
            Programs.pause(Duration.ofMillis(20));
        }
        throw new IllegalStateException("the pool never held " + size + " sandboxes");
    }

    /// Calls `/health`, which closes its connection after the answer.
    Http.Answer health() {
        try (var http = connect()) {
            return http.get("/health");
        }
    }

    /// Lets the server's JVM compile what is measured: a server is up for weeks, its first second is measured
    /// elsewhere.
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

    /// Creates a session and returns its id.
    static String create(Http http, String thread) {
        String body = "{\"user_id\":\"bench\",\"thread_id\":\"" + thread + "\"}";
        return http.post("/create_session", body).expect(201).member("session_id");
    }

    /// Runs a command in a session to its end; it must succeed.
    static void execute(Http http, String session, String command) {
        String body = "{\"session_id\":\"" + session + "\",\"command\":\"" + command + "\"}";
        String answer = http.post("/execute", body).expect(200).text();
        if (!answer.contains("\"exit_code\":0") && !answer.contains("\"exit_code\": 0")) {
            throw new IllegalStateException("the command failed: " + answer);
        }
    }

    /// Runs a command as a stream of events and returns when it has written `text`. The connection is of no further
    /// use.
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

    /// Ends the server gracefully; its sandboxes go on.
    void stop() {
        Programs.stop(process, STOP_TIME);
    }

    /// Pulls the plug. What it started goes on, for the next server on its home.
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
        // In a session of its own: ^C ends this program and its children, but must not end this halfway.
        Programs.runQuietly(List.of("setsid", "--wait", launcher.toString(), "purge", "--home", home.toString()));
        Programs.deleteTree(home);
        closed = true;
    }
}
