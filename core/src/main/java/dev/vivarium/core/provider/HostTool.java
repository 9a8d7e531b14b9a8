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

/// Runner of host tools. Stateless.
///
/// The output of a tool goes to a file, never to a pipe: if a detached child inherits a pipe, the caller waits as long
/// as the machine lives. The streams of a runtime are never a device: crun changes their owner to the user of the
/// machine, which would affect `/dev/null` of the host.
public final class HostTool {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Path NOTHING = Path.of("/dev/null");

    /// The whole environment of a tool.
    public static final Map<String, String> ENVIRONMENT =
            Map.of("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C");

    private HostTool() {}

    /// Runs a short tool. A failure contains the last line of its output.
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

    /// Runs a short tool as a probe.
    public static boolean succeeds(List<String> command) throws IOException {
        return start(command, Map.of(), NOTHING) == 0;
    }

    /// Runs `command`, appends its output to `log`, and returns its exit status. The environment contains only
    /// `environment`, so that no variable of the server reaches a runtime or a machine.
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
