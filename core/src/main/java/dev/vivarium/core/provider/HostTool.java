package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Running a tool of the host to its end. Its output goes to a file, never to a pipe: a pipe that a detached child
/// inherits would keep the caller waiting for as long as the machine lives. Nor are a runtime's streams ever a device:
/// crun gives them to the machine's user, and the host's `/dev/null` would be the machine's. Stateless.
public final class HostTool {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Path NOTHING = Path.of("/dev/null");

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
        return start(command, Map.of(), NOTHING) == 0;
    }

    /// Runs `command` with its output appended to `log`, and gives its exit status. The environment is bare but for
    /// `environment`, so that nothing of the server's reaches a runtime or a machine.
    public static int start(List<String> command, Map<String, String> environment, Path log) throws IOException {
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().clear();
        builder.environment().putAll(ENVIRONMENT);
        builder.environment().putAll(environment);
        var process = builder.start();
        process.getOutputStream().close();
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
