package dev.vivarium.core.git;

import dev.vivarium.core.provider.HostTool;
import dev.vivarium.model.HostName;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// The program `git` of the host, without the settings, hooks and credentials of the host. Thread-safe.
public final class HostGit {
    private static final Path PROGRAM = Path.of("/usr/bin/git");
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final int MAX_SHOWN = 300;
    private static final int BLOCK = 512;
    private static final int MAX_PROCESSES = 16;

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "GIT_CONFIG_NOSYSTEM", "1",
            "GIT_CONFIG_GLOBAL", "/dev/null",
            "GIT_TERMINAL_PROMPT", "0",
            "GIT_ALLOW_PROTOCOL", "http:https",
            "HOME", "/nonexistent");

    private final Duration idle;

    /// Programs in sandboxes start these processes, so their number is limited.
    private final Semaphore processes = new Semaphore(MAX_PROCESSES, true);

    /// @param idle longest time without data from a remote
    public HostGit(Duration idle) {
        this.idle = idle;
    }

    boolean isInstalled() {
        return Files.isExecutable(PROGRAM);
    }

    /// Fetches all branches and tags into a bare repository, and creates it if necessary.
    void fetch(Path mirror, Remote remote, Remote.Advertised advertised, long maxBytes) throws IOException {
        if (!Files.exists(mirror.resolve("HEAD"))) {
            run(List.of("git", "init", "--quiet", "--bare", mirror.toString()), Map.of(), maxBytes);
        }
        var fetch = List.of(
                "git",
                "-C",
                mirror.toString(),
                "fetch",
                "--quiet",
                "--prune",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-recurse-submodules",
                remote.url().toString(),
                "+refs/heads/*:refs/heads/*",
                "+refs/tags/*:refs/tags/*");
        run(fetch, settings(remote, advertised.address()), maxBytes);
        Optional<String> head = advertised.refs().head().filter(ref -> ref.startsWith("refs/heads/"));
        if (head.isPresent()) {
            run(List.of("git", "-C", mirror.toString(), "symbolic-ref", "HEAD", head.get()), Map.of(), maxBytes);
        }
    }

    /// The credential is in the environment of the process, which no other user of the host can read. The address
    /// is the one that was checked.
    private Map<String, String> settings(Remote remote, InetAddress address) {
        var settings = new LinkedHashMap<String, String>();
        settings.put("http.extraHeader", "Authorization: " + remote.secret().basic());
        settings.put("http.followRedirects", "false");
        settings.put("http.lowSpeedLimit", "1");
        settings.put("http.lowSpeedTime", Long.toString(Math.max(1, idle.toSeconds())));
        settings.put("core.hooksPath", "/dev/null");
        settings.put("gc.auto", "0");
        HostName host = remote.url().host();
        if (host.address().isEmpty()) {
            String literal =
                    address instanceof Inet6Address ? "[" + address.getHostAddress() + "]" : address.getHostAddress();
            settings.put("http.curloptResolve", host.text() + ":" + remote.url().port() + ":" + literal);
        }
        var env = new HashMap<String, String>();
        settings.forEach((name, value) -> {
            int number = env.size() / 2;
            env.put("GIT_CONFIG_KEY_" + number, name);
            env.put("GIT_CONFIG_VALUE_" + number, value);
        });
        env.put("GIT_CONFIG_COUNT", Integer.toString(settings.size()));
        return env;
    }

    /// Runs git with a limit for the size of each file that it writes.
    private static void run(List<String> command, Map<String, String> env, long maxBytes) throws IOException {
        var limited = new ArrayList<>(List.of("sh", "-c", "ulimit -f " + maxBytes / BLOCK + "; exec \"$@\"", "git"));
        limited.addAll(command);
        Path output = Files.createTempFile("vivarium-git-", ".log");
        try {
            Process process = builder(limited, env)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            process.getOutputStream().close();
            await(process, output);
        } finally {
            Files.deleteIfExists(output);
        }
    }

    private static void await(Process process, Path output) throws IOException {
        try {
            if (!process.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException("git did not end within " + LONGEST.toMinutes() + " minutes");
            }
            if (process.exitValue() != 0) {
                String text =
                        Files.readString(output, StandardCharsets.ISO_8859_1).strip();
                throw new IOException("git exited with " + process.exitValue() + ": "
                        + text.substring(Math.max(0, text.length() - MAX_SHOWN)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static ProcessBuilder builder(List<String> command, Map<String, String> env) {
        var builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(HostTool.ENVIRONMENT);
        builder.environment().putAll(ENVIRONMENT);
        builder.environment().putAll(env);
        return builder;
    }

    /// Request of a fetch from a mirror. Immutable.
    ///
    /// @param protocol value of the header `Git-Protocol`
    /// @param body     absent for the references
    public record Fetch(Path mirror, Optional<String> protocol, Optional<InputStream> body) {}

    /// Serves a request of a fetch from a mirror. Fails if too many requests are being served.
    public void serve(Fetch fetch, OutputStream out) throws IOException {
        try {
            if (!processes.tryAcquire(idle.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("too many fetches; try again later");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        try {
            upload(fetch, out);
        } finally {
            processes.release();
        }
    }

    private void upload(Fetch fetch, OutputStream out) throws IOException {
        var command = new ArrayList<>(List.of("git", "upload-pack", "--stateless-rpc"));
        if (fetch.body.isEmpty()) {
            command.add("--advertise-refs");
        }
        command.add(fetch.mirror.toString());
        var env = new HashMap<String, String>();
        fetch.protocol.ifPresent(value -> env.put("GIT_PROTOCOL", value));
        Process process = builder(command, env)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            Thread.ofVirtual().name("git-mirror-request").start(() -> send(fetch.body, process));
            process.getInputStream().transferTo(out);
            if (!process.waitFor(idle.toSeconds() + 1, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("git upload-pack failed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static void send(Optional<InputStream> body, Process process) {
        try (OutputStream in = process.getOutputStream()) {
            if (body.isPresent()) {
                body.get().transferTo(in);
            }
        } catch (IOException e) {
            // The process ended, or the client disconnected. Both end the response.
        }
    }
}
