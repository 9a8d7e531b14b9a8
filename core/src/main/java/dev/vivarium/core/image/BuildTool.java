package dev.vivarium.core.image;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Runner of host programs that build an image. Stateless.
final class BuildTool {
    private BuildTool() {}

    /// Runs the program until it exits, and passes each line of output to `lines`. If the program fails, throws
    /// with its last line.
    static void run(String name, List<String> command, Map<String, String> environment, Consumer<String> lines)
            throws IOException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        var process = builder.start();
        process.getOutputStream().close();
        var last = "";
        try (var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (var line = output.readLine(); line != null; line = output.readLine()) {
                lines.accept(line);
                last = line.isBlank() ? last : line;
            }
            if (process.waitFor() != 0) {
                throw new IOException(name + " failed: " + last);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }
}
