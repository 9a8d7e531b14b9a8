package dev.vivarium.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Runs every example with a real server and checks its documented output.
@Timeout(300)
class ExamplesTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start("--pool-size", "2");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void hello() throws Exception {
        assertThat(outputOf(Hello::main)).startsWith("hello from Linux\n3\n").contains("exit code 2: ", "no-such-file");
    }

    @Test
    void agent() throws Exception {
        assertThat(outputOf(Agent::main)).contains("exit code 0", "<stderr>").endsWith("There are 25.\n");
    }

    @Test
    void dataPipeline() throws Exception {
        assertThat(outputOf(DataPipeline::main))
                .startsWith("ann,350\nben,40\ncy,75\n")
                .contains("-rw-r--r-- out/totals.csv");
    }

    @Test
    void streamingOutput() throws Exception {
        assertThat(outputOf(StreamingOutput::main))
                .isEqualTo("started\nstep 1\nstep 2\nstep 3\nexit code 7\nseen enough\n");
    }

    @Test
    void parallelThreads() throws Exception {
        assertThat(outputOf(ParallelThreads::main).lines())
                .containsExactly(
                        "notes of parallel-0",
                        "notes of parallel-1",
                        "notes of parallel-2",
                        "notes of parallel-3",
                        "notes of parallel-4",
                        "notes of parallel-5");
    }

    @Test
    void curl() throws Exception {
        assertThat(script("bash", "curl.sh"))
                .contains("\"stdout\":\"hello\\n\"")
                .contains("\"status\":\"uploaded\"")
                .contains("\"type\":\"exit\"")
                .contains("one\nthree\ntwo\n")
                .contains("\"total_files\":3")
                .contains("\"status\":\"cleaned_up\"");
    }

    @Test
    void python() throws Exception {
        assertThat(script("python3", "python/quickstart.py"))
                .isEqualTo("1\n2\n3\nstdout one\nstderr two\nexit code 3\n"
                        + "['1', '2', '3']\n['numbers.txt', 'sorted.txt']\n");
    }

    private interface Example {
        void main(String[] args) throws Exception;
    }

    /// Captures standard output of the process. The tests of this class run sequentially.
    private static String outputOf(Example example) throws Exception {
        PrintStream before = System.out;
        var captured = new ByteArrayOutputStream();
        System.setOut(new PrintStream(captured, true, StandardCharsets.UTF_8));
        try {
            example.main(new String[] {server.uri().toString(), server.adminKey()});
        } finally {
            System.setOut(before);
        }
        return captured.toString(StandardCharsets.UTF_8);
    }

    private static String script(String interpreter, String file) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(List.of(interpreter, Path.of(file).toString())).redirectErrorStream(true);
        builder.environment().put("VIV_SERVER", server.uri().toString());
        builder.environment().put("VIV_API_KEY", server.adminKey());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
