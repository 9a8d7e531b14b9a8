package dev.vivarium.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.sdk.RemoteClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class DemoTest {
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    @Test
    void demoPrintsARunAndLeavesNoHome() throws IOException {
        var before = homes();

        assertThat(viv("demo", "--plain")).as(this::text).isZero();
        assertThat(text())
                .containsSubsequence(
                        "starts   command",
                        "thinks   Three cities",
                        "says     I write convert.py.",
                        "uses     Bash  cat > convert.py",
                        "uses     Bash  sleep 2; python3 convert.py",
                        "you      Use Celsius, please",
                        "says     Celsius it is.",
                        "Oslo     4.5 C",
                        "says     convert.py prints the temperatures",
                        "\ndone\n",
                        "ended    completed, $0.0250")
                .contains("viv image build worker");
        // Other demos may run on this machine at the same time.
        await().atMost(Duration.ofMinutes(2)).until(() -> before.containsAll(homes()));
    }

    @Test
    void keptRunStaysOnTheRunningServer() throws IOException {
        try (var server = DemoServer.start(Demo.script(), Optional.empty())) {
            var env = Map.of("VIV_SERVER", server.uri().toString(), "VIV_API_KEY", server.key());

            assertThat(Main.run(List.of("demo", "--keep"), env, new PrintStream(output, true, StandardCharsets.UTF_8)))
                    .as(this::text)
                    .isZero();

            assertThat(text())
                    .containsSubsequence("says     I write convert.py.", "you      Use Celsius", "Oslo     4.5 C")
                    .contains("/console/sign-in?next=%2Fconsole%2Fsandboxes%2Fsbx");
            var client = RemoteClient.of(server.uri(), server.key());
            assertThat(client.runs().listByStatus("completed")).hasSize(1);
        }
    }

    @Test
    void keptRunNeedsAServer() throws IOException {
        var env = Map.of("VIV_SERVER", "http://127.0.0.1:1", "VIV_API_KEY", "viv_x");

        assertThat(Main.run(List.of("demo", "--keep"), env, new PrintStream(output, true, StandardCharsets.UTF_8)))
                .isEqualTo(1);
        assertThat(text()).contains("viv serve");
    }

    @Test
    void unknownOptionPrintsTheUsage() throws IOException {
        assertThat(viv("demo", "--loud")).isEqualTo(2);
        assertThat(text()).contains("usage: viv demo [--plain | --keep]");
    }

    private int viv(String... arguments) throws IOException {
        return Main.run(List.of(arguments), Map.of(), new PrintStream(output, true, StandardCharsets.UTF_8));
    }

    private String text() {
        return output.toString(StandardCharsets.UTF_8);
    }

    private static List<Path> homes() throws IOException {
        try (var directories = Files.newDirectoryStream(Path.of(System.getProperty("java.io.tmpdir")), "viv-demo-*")) {
            var all = new ArrayList<Path>();
            directories.forEach(all::add);
            return all.stream().sorted().toList();
        }
    }
}
