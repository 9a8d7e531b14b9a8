package dev.vivarium.testing;

import dev.vivarium.server.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Server in a process of its own, so that tests can kill it. Confined to the thread that starts it.
final class ServerProcess implements AutoCloseable {
    private static final String READY = "ready on ";

    /// Directory of the built distribution, if there is one. A server of it starts in half the CPU time, because it
    /// has an AOT cache.
    private static final Optional<Path> DISTRIBUTION =
            Optional.ofNullable(System.getProperty("vivarium.distribution")).map(Path::of);

    private final Process process;
    private final URI uri;
    private final Api api;

    private ServerProcess(Process process, URI uri, Api api) {
        this.process = process;
        this.uri = uri;
        this.api = api;
    }

    /// Starts a server on `home` and returns when the server is ready.
    static ServerProcess start(Path home, String... arguments) {
        return start(java(home, "serve", arguments), home);
    }

    /// Starts a server under this umask.
    static ServerProcess startWithUmask(Path home, String umask, String... arguments) {
        return startAfter("umask " + umask, home, arguments);
    }

    /// Starts a server with at most `max` file descriptors.
    static ServerProcess startWithDescriptors(Path home, int max, String... arguments) {
        return startAfter("ulimit -n " + max, home, arguments);
    }

    private static ServerProcess startAfter(String setUp, Path home, String... arguments) {
        var builder = java(home, "serve", arguments);
        var line = new ArrayList<>(List.of("sh", "-c", setUp + "; exec \"$@\"", "sh"));
        line.addAll(builder.command());
        return start(builder.command(line), home);
    }

    /// Starts a server in a JVM with these options. Its standard error goes to the file `stderr` in the home.
    static ServerProcess startWith(List<String> options, Path home, String... arguments) {
        var builder = java(home, "serve", arguments);
        builder.command().addAll(1, options);
        return start(builder.redirectError(Redirect.to(home.resolve("stderr").toFile())), home);
    }

    private static ServerProcess start(ProcessBuilder builder, Path home) {
        try {
            var process = builder.start();
            URI uri = awaitReady(process);
            return new ServerProcess(process, uri, api(uri, home));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Runs a server that cannot start and returns its exit code. Creates nothing in `home` itself.
    static int fail(Path home, String... arguments) {
        try {
            return java(home.getParent(), home, "serve", arguments)
                    .redirectOutput(Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// A server that is ready, or the exit code and errors of its failed start.
    record Attempt(Optional<ServerProcess> server, int exitCode, String errors) {}

    /// Starts a server on `home` that may fail to start.
    static Attempt tryStart(Path home, String... arguments) {
        Path errors = temporary(home).resolve("errors");
        try {
            var process = java(home, "serve", arguments)
                    .redirectError(errors.toFile())
                    .start();
            Optional<URI> uri = findReady(process);
            if (uri.isEmpty()) {
                return new Attempt(Optional.empty(), process.waitFor(), Files.readString(errors));
            }
            return new Attempt(Optional.of(new ServerProcess(process, uri.get(), api(uri.get(), home))), 0, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Kills and removes everything that servers on `home` left. The arguments must select the same provider as
    /// those of the servers.
    static void purge(Path home, String... arguments) {
        // The home may be gone, so it must not contain the temporary files.
        var builder = java(home.getParent(), home, "purge", arguments);
        builder.command().add("--yes");
        try {
            Process process = builder.redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.PIPE)
                    .start();
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status != 0) {
                throw new IllegalStateException("purge ended with " + status + ": " + errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ProcessBuilder java(Path home, String command, String... arguments) {
        return java(temporary(home), home, command, arguments);
    }

    private static ProcessBuilder java(Path temporary, Path home, String command, String... arguments) {
        var line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                // The processes are too short-lived for the second compiler.
                "-XX:TieredStopAtLevel=1",
                // A killed process leaves its temporary files. They are deleted with the home.
                "-Djava.io.tmpdir=" + temporary));
        line.addAll(classes());
        line.addAll(List.of(Main.class.getName(), command, "--home", home.toString()));
        if (command.equals("serve") && !List.of(arguments).contains("--port")) {
            line.addAll(List.of("--port", "0"));
        }
        line.addAll(List.of(arguments));
        return new ProcessBuilder(line).redirectError(Redirect.DISCARD);
    }

    private static List<String> classes() {
        return DISTRIBUTION
                .map(built -> List.of(
                        "-XX:AOTCache=" + built.resolve("server.aot"),
                        "-Xlog:disable",
                        "-Dorg.sqlite.lib.path=" + built.resolve("lib/native"),
                        "-cp",
                        built.resolve("lib/vivarium.jar").toString()))
                .orElseGet(() -> List.of("-cp", System.getProperty("java.class.path")));
    }

    private static Path temporary(Path home) {
        try {
            return Files.createDirectories(home.resolve("tmp"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Api api(URI uri, Path home) throws IOException {
        return new Api(uri, Files.readString(home.resolve("credentials")).strip());
    }

    private static URI awaitReady(Process process) throws IOException {
        return findReady(process).orElseThrow(() -> new IllegalStateException("the server ended before it was ready"));
    }

    private static Optional<URI> findReady(Process process) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(READY)) {
                return Optional.of(URI.create(line.substring(READY.length())));
            }
        }
        return Optional.empty();
    }

    /// Waits until the server exits by itself. Returns its exit code.
    int awaitExit() {
        return process.onExit().join().exitValue();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    URI uri() {
        return uri;
    }

    Api api() {
        return api;
    }

    /// Stops the server with SIGTERM, as a service manager does, and waits for its exit.
    void terminate() {
        process.destroy();
        var _ = awaitExit();
    }

    /// Kills the server with SIGKILL.
    @Override
    public void close() {
        process.destroyForcibly();
        var _ = awaitExit();
    }
}
