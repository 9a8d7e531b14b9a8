package dev.vivarium.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Hostile client in its own process. Confined to one thread.
///
/// It runs at the lowest priority, because a real attacker does not use the processors of the server's machine. It ends
/// when its standard input is closed.
final class AttackClient implements AutoCloseable {
    private static final Duration STOP_TIME = Duration.ofSeconds(10);

    private final Process process;
    private final String firstLine;

    private AttackClient(Process process, String firstLine) {
        this.process = process;
        this.firstLine = firstLine;
    }

    /// Starts `attacks.py` with these arguments and returns after its first line of output.
    static AttackClient start(Path directory, String... arguments) {
        try {
            Path script = directory.resolve("attacks.py");
            try (var source = AttackClient.class.getResourceAsStream("attacks.py")) {
                Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
            }
            var command = new ArrayList<>(List.of("nice", "-n", "19", "python3", script.toString()));
            command.addAll(List.of(arguments));
            var process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = lines.readLine();
            if (line == null) {
                throw new IllegalStateException("attacks.py ended: " + arguments[0]);
            }
            return new AttackClient(process, line);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    String firstLine() {
        return firstLine;
    }

    @Override
    public void close() {
        Programs.stop(process, STOP_TIME);
    }
}
