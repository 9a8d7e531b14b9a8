package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Separate Docker Engine for the comparison. Thread-safe.
///
/// It has its own data directory, no bridge, and one image with the root file system of the sandboxes.
final class Docker implements AutoCloseable {
    private static final Duration START_TIME = Duration.ofSeconds(60);
    private static final Duration STOP_TIME = Duration.ofSeconds(30);
    private static final String IMAGE = "vivarium-bench";

    /// Separate cgroup, so that its removal does not affect another `docker`.
    private static final String CGROUP =
            "viv-bench-docker-" + ProcessHandle.current().pid();

    private final Process engine;
    private final Path directory;
    private final Set<String> containers = ConcurrentHashMap.newKeySet();

    private Docker(Process engine, Path directory) {
        this.engine = engine;
        this.directory = directory;
    }

    /// Starts an engine in `directory`. Returns nothing and prints the reason if this machine cannot run one.
    static Optional<Docker> start(Path directory, Path rootFileSystem) {
        if (Programs.find("dockerd").isEmpty()) {
            System.err.println("no dockerd on this machine (Debian: apt-get install docker.io);"
                    + " going on without the comparison");
            return Optional.empty();
        }
        var docker = new Docker(daemon(directory), directory);
        try {
            docker.awaitReady();
            docker.importImage(rootFileSystem);
            return Optional.of(docker);
        } catch (RuntimeException failure) {
            System.err.println("the Docker Engine is of no use here: " + failure + "\n"
                    + Programs.tail(directory.resolve("log")) + "going on without the comparison");
            docker.close();
            return Optional.empty();
        }
    }

    private static Process daemon(Path directory) {
        try {
            Files.createDirectories(directory);
            return new ProcessBuilder(
                            "dockerd",
                            "--host=unix://" + directory.resolve("s"),
                            "--data-root=" + directory.resolve("data"),
                            "--exec-root=" + directory.resolve("run"),
                            "--pidfile=" + directory.resolve("pid"),
                            "--cgroup-parent=/" + CGROUP,
                            "--bridge=none",
                            "--iptables=false",
                            "--ip-masq=false")
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void awaitReady() {
        var deadline = Instant.now().plus(START_TIME);
        while (Instant.now().isBefore(deadline) && engine.isAlive()) {
            if (Files.exists(socket()) && answersPing()) {
                return;
            }
            Programs.pause(Duration.ofMillis(100));
        }
        throw new IllegalStateException("dockerd did not start");
    }

    private boolean answersPing() {
        try (var http = connect()) {
            return http.get("/_ping").status() == 200;
        } catch (UncheckedIOException notYet) {
            return false;
        }
    }

    private void importImage(Path rootFileSystem) {
        try (var http = connect()) {
            var archiver = new ProcessBuilder("tar", "--directory", rootFileSystem.toString(), "--create", ".")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            http.stream(
                            "POST",
                            "/images/create?fromSrc=-&tag=latest&repo=" + IMAGE,
                            "application/x-tar",
                            archiver.getInputStream())
                    .expect(200);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private Path socket() {
        return directory.resolve("s");
    }

    Http connect() {
        return Http.unix(socket());
    }

    String version() {
        try (var http = connect()) {
            return http.get("/version").expect(200).member("Version");
        }
    }

    /// Access of a container to its root file system.
    private enum Root {
        READ_ONLY,
        WRITABLE
    }

    /// Creates, attaches and starts a container and waits for its first output, as `docker run` does. The container
    /// has the limits of a sandbox.
    String runToFirstOutput() {
        return run(Root.READ_ONLY);
    }

    /// Runs a container whose root file system is writable for the archive API.
    String runWritable() {
        return run(Root.WRITABLE);
    }

    private String run(Root root) {
        try (var control = connect();
                var stream = connect()) {
            String id = create(control, root, "bash", "-c", "echo ready; exec sleep 3600");
            stream.open("POST", "/containers/" + id + "/attach?stream=1&stdout=1", "");
            control.post("/containers/" + id + "/start", "").expect(204);
            stream.awaitByte();
            return id;
        }
    }

    private String create(Http control, Root root, String... command) {
        int processors = Math.min(2, Runtime.getRuntime().availableProcessors());
        String request = """
                {"Image":"%s","Cmd":%s,"AttachStdout":true,"NetworkDisabled":true,
                 "HostConfig":{"NetworkMode":"none","Memory":1073741824,"NanoCpus":%d000000000,"PidsLimit":512,
                  "ReadonlyRootfs":%s,"CapDrop":["ALL"],"SecurityOpt":["no-new-privileges"],
                  "LogConfig":{"Type":"none"}}}""".formatted(IMAGE, array(command), processors, root == Root.READ_ONLY);
        String id = control.post("/containers/create", request).expect(201).member("Id");
        containers.add(id);
        return id;
    }

    private static String array(String... values) {
        return "[\"" + String.join("\",\"", values) + "\"]";
    }

    /// Runs a command in a running container through the exec API. Reads the whole output and the exit code.
    /// Returns the number of bytes.
    long exec(Http control, String container, String command) {
        String request = "{\"AttachStdout\":true,\"AttachStderr\":true,\"Cmd\":" + array("bash", "-c", command) + "}";
        String id = control.post("/containers/" + container + "/exec", request)
                .expect(201)
                .member("Id");
        long bytes;
        try (var stream = connect()) {
            stream.open("POST", "/exec/" + id + "/start", "{\"Detach\":false,\"Tty\":false}");
            bytes = stream.drainStream();
        }
        String state = control.get("/exec/" + id + "/json").expect(200).text();
        if (!state.contains("\"ExitCode\":0")) {
            throw new IllegalStateException("the command failed: " + state);
        }
        return bytes;
    }

    /// Writes a file through the archive API.
    static void write(Http control, String container, byte[] archive) {
        control.exchange("PUT", "/containers/" + container + "/archive?path=/tmp", "application/x-tar", archive)
                .expect(200);
    }

    /// Reads a file through the archive API.
    static void read(Http control, String container, String name) {
        control.receive("GET", "/containers/" + container + "/archive?path=/tmp/" + name, "");
    }

    static void pause(Http control, String container) {
        control.post("/containers/" + container + "/pause", "").expect(204);
    }

    static void resume(Http control, String container) {
        control.post("/containers/" + container + "/unpause", "").expect(204);
    }

    void remove(String container) {
        try (var control = connect()) {
            control.delete("/containers/" + container + "?force=1").expect(204);
        }
        containers.remove(container);
    }

    /// Removes containers first: an engine that stops gives each of them ten seconds.
    @Override
    public void close() {
        if (engine.isAlive()) {
            for (String container : List.copyOf(containers)) {
                Programs.attempt(() -> remove(container));
            }
        }
        Programs.stop(engine, STOP_TIME);
        Programs.attempt(() -> Programs.unmountBelow(directory));
        Programs.attempt(() -> Programs.removeCgroups(CGROUP));
        Programs.attempt(() -> Programs.deleteTree(directory));
    }
}
