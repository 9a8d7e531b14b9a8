package dev.vivarium.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WorkerProgramTest {
    private static final int MISCONFIGURED = 64;

    @TempDir
    Path directory;

    @Test
    void workerStartsWithThePlainPythonOfTheHost() throws Exception {
        var file = Files.write(directory.resolve(WorkerProgram.NAME), WorkerProgram.read());
        var builder = new ProcessBuilder("/usr/bin/python3", "-I", file.toString(), "command", "--", "true")
                .redirectErrorStream(true);
        builder.environment().clear();
        var process = builder.start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output).isEqualTo(MISCONFIGURED);
        assertThat(output).contains("BACKEND_URL is not set");
    }
}
