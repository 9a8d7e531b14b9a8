package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Output of a worker through its control port while the server is killed: the log receives all lines, in order and
/// once. Needs root.
@Tag("root")
@Timeout(290)
class ControlPortRecoveryTest {
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-control-port").toRealPath();
    }

    @AfterEach
    void purge() throws IOException {
        ServerProcess.purge(home);
        FileTrees.delete(home);
    }

    @Test
    void workerOutputSurvivesServerKills() {
        String sandbox;
        try (var server = start()) {
            sandbox = spawn(server.api());
            awaitMoreThan(0, server.api(), sandbox);
        }
        int received = 0;
        for (int i = 0; i < 2; i++) {
            try (var server = start()) {
                received = lines(server.api(), sandbox).size();
                awaitMoreThan(received, server.api(), sandbox);
            }
        }
        try (var server = start()) {
            awaitMoreThan(received, server.api(), sandbox);
            List<String> lines = lines(server.api(), sandbox);
            assertThat(lines)
                    .containsExactlyElementsOf(IntStream.rangeClosed(1, lines.size())
                            .mapToObj(n -> "n-" + n)
                            .toList());
        }
    }

    private static String spawn(Api api) {
        return api.post(
                        "/api/v1/sandboxes",
                        "{\"task\":{\"title\":\"count\",\"description\":\"d\"},\"runtime\":\"command\",\"command\":[\"sh\",\"-c\","
                                + "\"i=0; while :; do i=$((i+1)); echo n-$i; sleep 0.3; done\"]}")
                .json()
                .string("sandbox_id");
    }

    private static void awaitMoreThan(int count, Api api, String sandbox) {
        await().untilAsserted(() -> assertThat(lines(api, sandbox)).hasSizeGreaterThan(count + 3));
    }

    /// Complete lines of the program's output in the log. The last line may still be incomplete.
    private static List<String> lines(Api api, String sandbox) {
        String text = api
                .get("/api/v1/sandboxes/" + sandbox + "/events?type=agent.output&limit=1000")
                .json()
                .objects("events")
                .stream()
                .map(event -> event.object("event_data").string("text"))
                .collect(Collectors.joining());
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    private ServerProcess start() {
        return ServerProcess.start(home, "--pool-size", "0", "--disk-mb", "64");
    }
}
