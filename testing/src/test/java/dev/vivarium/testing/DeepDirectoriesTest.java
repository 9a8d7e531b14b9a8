package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Directories that are nested deeper than any path reaches. Needs root.
@Tag("root")
@Timeout(300)
class DeepDirectoriesTest {
    private static final int LEVELS = 65_000;

    /// A few times the memory of an idle guest and its bounds.
    private static final long MAX_KIB = 32 * 1024;

    private TestServer server;
    private Api api;
    private String sandbox;

    @BeforeEach
    void start() {
        server = TestServer.startIsolated("--pool-size", "0", "--disk-mb", "2048", "--memory-mb", "256");
        api = server.api();
        sandbox = api.session();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void deeplyNestedDirectoriesArePolledWithBoundedMemory() throws IOException {
        api.execute(sandbox, "echo x > first");
        await().untilAsserted(() ->
                assertThat(events("file.created")).anyMatch(event -> path(event).equals("first")));
        nestDirectories();
        await().untilAsserted(() -> assertThat(events("file.watch_degraded")).hasSize(1));
        // The first scan reports the tree, and may fold a file that is new at the same time.
        await().pollInterval(Duration.ofSeconds(3)).untilAsserted(() -> {
            api.execute(sandbox, "echo x > $(mktemp -u second-XXXXXX)");
            assertThat(events("file.created")).anyMatch(event -> path(event).startsWith("second-"));
        });

        assertThat(events("file.watch_degraded")).hasSize(1);
        assertThat(peakKib()).isLessThan(MAX_KIB);
    }

    /// The order of the entries of a directory is random, so some of the files are listed after the nested
    /// directories.
    @Test
    void filesBesideDeeplyNestedDirectoriesAreListed() {
        api.execute(sandbox, "touch file-{1..40}");
        nestDirectories();

        var files = api.get("/list_files?session_id=" + sandbox).json().objects("files");

        assertThat(files.stream().map(file -> file.string("name")).filter(name -> name.startsWith("file-")))
                .hasSize(40);
    }

    private void nestDirectories() {
        String descend = "import os\nfor i in range(" + LEVELS + "): os.mkdir('d'); os.chdir('d')";
        assertThat(api.execute(sandbox, "python3 -c \"" + descend + "\"").integer("exit_code"))
                .isZero();
    }

    private static String path(JsonFields event) {
        return event.object("event_data").string("path");
    }

    private List<JsonFields> events(String type) {
        return api.get("/api/v1/sandboxes/" + sandbox + "/events?limit=1000&type=" + type)
                .json()
                .objects("events");
    }

    /// Largest resident memory of the guest so far.
    private long peakKib() throws IOException {
        String pid = Files.readString(
                        server.home().resolve("run").resolve(sandbox).resolve("pid"))
                .strip();
        try (var lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            String peak =
                    lines.filter(line -> line.startsWith("VmHWM:")).findFirst().orElseThrow();
            return Long.parseLong(peak.replaceAll("[^0-9]", ""));
        }
    }
}
