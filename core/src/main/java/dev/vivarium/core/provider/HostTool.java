package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Running a tool of the host to its end. Its streams are files, never pipes: a pipe that a detached child inherits
/// would keep the caller waiting for as long as the machine lives. Stateless.
public final class HostTool {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final File NOTHING = new File("/dev/null");

    /// All that a tool gets of an environment.
    public static final Map<String, String> ENVIRONMENT =
            Map.of("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C");

    private HostTool() {}

    /// Runs a short tool; a failure carries its last line.
    public static void run(String step, List<String> command, int... fine) throws IOException {
        var log = Files.createTempFile("vivarium-", ".log");
        try {
            int status = start(command, Map.of(), log);
            if (status != 0 && Arrays.stream(fine).noneMatch(code -> code == status)) {
                var words = Files.readString(log, StandardCharsets.ISO_8859_1).strip();
                throw new SandboxException(new Failure.ProviderFailed(
                        step,
                        words.isEmpty()
                                ? "exit status " + status
                                : words.lines().toList().getLast()));
            }
        } finally {
            Files.deleteIfExists(log);
        }
    }

    /// Runs a short tool to find out whether it can do something.
    public static boolean succeeds(List<String> command) throws IOException {
        return start(command, Map.of(), NOTHING.toPath()) == 0;
    }

    /// Runs `command` with its output appended to `log`, and gives its exit status. The environment is bare but for
    /// `environment`, so that nothing of the server's reaches a runtime or a machine.
    public static int start(List<String> command, Map<String, String> environment, Path log) throws IOException {
        var builder = new ProcessBuilder(command)
                .redirectInput(NOTHING)
                .redirectOutput(NOTHING)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().clear();
        builder.environment().putAll(ENVIRONMENT);
        builder.environment().putAll(environment);
        var process = builder.start();
        try {
            if (process.waitFor(LONGEST.toMillis(), TimeUnit.MILLISECONDS)) {
                return process.exitValue();
            }
            process.destroyForcibly();
            throw new IOException(command.getFirst() + " did not end within " + LONGEST.toSeconds() + " s");
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for " + command.getFirst(), e);
        }
    }
}
