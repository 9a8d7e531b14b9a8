package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Snapshots when the server is killed with SIGKILL while saving, and the disk space of deleted snapshots. Needs root.
@Tag("root")
@Timeout(240)
class KilledSnapshotTest {
    private static final int KILLS = 4;
    private static final long MEGABYTE = 1 << 20;

    private final String thread = Api.thread();
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-saved").toRealPath();
    }

    @AfterEach
    void deleteHome() throws IOException {
        ServerProcess.purge(home);
        FileTrees.delete(home);
    }

    @Test
    void acknowledgedSnapshotsSurviveServerKills() throws Exception {
        Map<String, String> acknowledged = new ConcurrentHashMap<>();
        String session;
        try (var server = start()) {
            session = create(server.api());
            server.api().execute(session, "head -c 20000000 /dev/urandom > large");
        }
        for (int i = 0; i < KILLS; i++) {
            try (var server = start()) {
                int before = acknowledged.size();
                var saving = Thread.ofPlatform()
                        .name("saving")
                        .start(() -> saveUntilKilled(server.api(), session, acknowledged));
                await().until(() -> acknowledged.size() > before);
                server.close();
                saving.join();
            }
        }
        try (var server = start()) {
            // The sandbox resumes if the server was killed while the sandbox was paused.
            assertThat(server.api().execute(session, "echo alive").string("stdout"))
                    .isEqualTo("alive\n");
            for (var saved : acknowledged.entrySet()) {
                assertThat(contentOf(server.api(), saved.getKey())).isEqualTo(saved.getValue());
            }
        }
    }

    /// The file system frees the blocks when it next commits its log, within half a minute.
    @Test
    void deletedSnapshotsFreeTheirDiskSpace() throws Exception {
        try (var server = start()) {
            Api api = server.api();
            String session = create(api);
            api.execute(session, "head -c 40000000 /dev/urandom > large");
            String saved = take(api);
            String fork = api.post(snapshots() + "/" + saved + "/fork", "{\"thread_id\":\"" + Api.thread() + "\"}")
                    .json()
                    .string("session_id");
            api.execute(fork, "head -c 40000000 /dev/urandom > own; sync");
            long full = allocated();
            assertThat(full).isGreaterThan(110 * MEGABYTE);

            api.post("/cleanup", "{\"session_id\":\"" + fork + "\"}");
            api.method("DELETE", snapshots() + "/" + saved);

            await().atMost(Duration.ofMinutes(2))
                    .untilAsserted(() -> assertThat(allocated()).isLessThan(full - 70 * MEGABYTE));
        }
    }

    private void saveUntilKilled(Api api, String session, Map<String, String> acknowledged) {
        try {
            for (int i = 0; ; i++) {
                String text = "state " + acknowledged.size() + " " + i;
                api.execute(session, "echo " + text + " > file");
                acknowledged.put(take(api), text);
            }
        } catch (RuntimeException | AssertionError e) {
            // The server was killed. Snapshots that it did not acknowledge may be lost.
        }
    }

    private String contentOf(Api api, String snapshot) {
        var fork = api.post(snapshots() + "/" + snapshot + "/fork", "{\"thread_id\":\"" + Api.thread() + "\"}");
        assertThat(fork.status()).as(fork.text()).isEqualTo(201);
        String session = fork.json().string("session_id");
        var read = api.execute(session, "cat file; wc -c < large");
        api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");
        assertThat(read.string("stdout")).endsWith("\n20000000\n");
        return read.string("stdout").lines().findFirst().orElseThrow();
    }

    private String take(Api api) {
        var answer = api.post(snapshots(), "{}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("snapshot_id");
    }

    private String snapshots() {
        return "/threads/" + thread + "/snapshots";
    }

    /// Bytes that the disks of the home take on the host.
    private long allocated() throws IOException {
        var du = new ProcessBuilder(
                        "du",
                        "--summarize",
                        "--block-size=1",
                        home.resolve("disks").toString())
                .start();
        return Long.parseLong(new String(du.getInputStream().readAllBytes()).split("\\s")[0]);
    }

    private String create(Api api) {
        return api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
    }

    private ServerProcess start() {
        return ServerProcess.start(home, "--pool-size", "0", "--disk-mb", "128");
    }
}
