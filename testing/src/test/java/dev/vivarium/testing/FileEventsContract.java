package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// File events, for every way to change a file and every isolation of the sandbox.
abstract class FileEventsContract {
    private final String session = api().session();

    abstract TestServer server();

    /// Process id of the sandbox's guest on the host.
    abstract long guest(String sandbox);

    /// Path on the host of a path inside the sandbox.
    abstract Path outside(String sandbox, String path);

    private Api api() {
        return server().api();
    }

    @Test
    void changesByAnyProgramAreLogged() {
        runWhileGuestIsStopped("printf 'one\\ntwo\\n' > a.txt");
        awaitEvent("file.created", "a.txt");
        runWhileGuestIsStopped("printf 'one\\n2\\n' > a.txt");
        awaitEvent("file.modified", "a.txt");
        run("rm a.txt");
        awaitEvent("file.deleted", "a.txt");

        var commandEvents = list("?type=file.");
        assertThat(types(commandEvents)).containsExactly("file.created", "file.modified", "file.deleted");
        assertThat(commandEvents.getFirst().object("event_data").string("diff"))
                .isEqualTo("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
        JsonFields modified = commandEvents.get(1).object("event_data");
        assertThat(modified.string("diff")).isEqualTo("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
        assertThat(modified.integer("size")).isEqualTo(6);
        assertThat(modified.string("sha256")).hasSize(64);
        assertThat(commandEvents.getFirst().string("source")).isEqualTo("sandbox");
    }

    @Test
    void filesCreatedBeforeTheWatchStartsAreReported() {
        run("mkdir -p src && echo x > src/main.c");

        awaitEvent("file.created", "src");
        awaitEvent("file.created", "src/main.c");
        assertThat(event("file.created", "src").flag("directory")).isTrue();
    }

    @Test
    void replacedFileIsModifiedAndTemporaryFileIsOmitted() {
        runWhileGuestIsStopped("echo old > kept");
        awaitEvent("file.created", "kept");
        runWhileGuestIsStopped("echo new > kept.tmp && mv kept.tmp kept");
        awaitEvent("file.modified", "kept");

        assertThat(event("file.modified", "kept").string("diff")).contains("-old\n+new\n");
        assertThat(types(list("?type=file."))).containsExactly("file.created", "file.modified");
    }

    @Test
    void binaryAndLargeFilesHaveAHashAndHugeFilesOnlyASize() {
        // The script writes the files elsewhere and moves them, so that the guest never sees an incomplete file.
        run("mkdir -p .vivarium; cd .vivarium; printf 'a\\0b' > binary; head -c 70000 /dev/zero | tr '\\0' x > large;"
                + " truncate -s 9M huge; mv binary large huge ..");
        for (String path : List.of("binary", "large", "huge")) {
            awaitEvent("file.created", path);
        }

        assertThat(event("file.created", "binary").text())
                .contains("\"size\":3", "\"sha256\"")
                .doesNotContain("diff");
        assertThat(event("file.created", "large").text()).contains("\"size\":70000", "\"sha256\"");
        assertThat(event("file.created", "huge").text())
                .contains("\"size\":9437184")
                .doesNotContain("sha256");
    }

    @Test
    void unreadableFilesAreReportedWithoutContent() {
        run(
                "mkfifo pipe; ln -s /etc/passwd link; ln -s nowhere broken; echo x > secret; chmod 0 secret; echo y > after");

        awaitEvent("file.created", "after");
        awaitEvent("file.created", "pipe");
        awaitEvent("file.created", "link");
        assertThat(event("file.created", "pipe").string("type")).isEqualTo("fifo");
        assertThat(event("file.created", "link").text()).doesNotContain("root").contains("\"type\":\"link\"");
        run("echo more >> after");
        awaitEvent("file.modified", "after");
    }

    @Test
    void burstOfChangesIsFoldedAndLaterDiffed() {
        run("true");
        long start = System.nanoTime();
        run(
                "mkdir src && for i in $(seq 3000); do echo $i > src/f$i; done; mkdir -p .vivarium && echo x > .vivarium/spool");
        await().untilAsserted(() -> assertThat(created()).isEqualTo(3001));
        // The server reports ten changes a second individually and folds the rest of each second into one event.
        int seconds = (int) Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(list("?type=file.&limit=1000")).hasSizeLessThan(60 + 11 * seconds);
        assertThat(list("?type=file.changes_folded")
                        .getFirst()
                        .object("event_data")
                        .text())
                .contains("\"directories\":[\"src\"]");
        assertThat(api().get(events("?type=file.")).text()).doesNotContain(".vivarium");

        // The guest reads the contents of folded files after the burst, in batches.
        await().pollInterval(Duration.ofMillis(500)).untilAsserted(() -> {
            run("echo changed >> src/f1");
            assertThat(list("?type=file.modified&limit=1000"))
                    .anySatisfy(e -> assertThat(e.object("event_data").text()).contains("src/f1", "+changed"));
        });
    }

    private long created() {
        long folded = list("?type=file.changes_folded").stream()
                .mapToLong(e -> e.object("event_data").integer("created"))
                .sum();
        return folded + list("?type=file.created&limit=1000").size();
    }

    @Test
    void movedDirectoryIsOneDeletionWithItsFileCount() {
        run("mkdir -p d/e && echo x > d/e/f");
        awaitEvent("file.created", "d/e/f");
        run("mv d g");
        awaitEvent("file.deleted", "d");
        awaitEvent("file.created", "g/e/f");

        assertThat(event("file.deleted", "d").integer("files")).isEqualTo(2);
        run("mv g d");
        await().untilAsserted(() -> assertThat(list("?type=file.created"))
                .filteredOn(e -> e.object("event_data").string("path").equals("d/e/f"))
                .hasSize(2));
    }

    @Test
    void changesAfterAPauseAreReported() {
        runWhileGuestIsStopped("echo x > before");
        awaitEvent("file.created", "before");
        api().method("POST", "/sandboxes/" + session + "/pause");
        api().method("POST", "/sandboxes/" + session + "/resume");
        runWhileGuestIsStopped("echo x > after");

        awaitEvent("file.created", "after");
        assertThat(types(list("?type=file."))).containsExactly("file.created", "file.created");
    }

    @Test
    void restoringASnapshotReportsTheChangedFiles() {
        run("echo one > a; echo two > b");
        awaitEvent("file.created", "b");
        String thread = server().sandboxes().list().stream()
                .filter(info -> info.id().value().equals(session))
                .findFirst()
                .orElseThrow()
                .thread()
                .value();
        String snapshot = api().post("/threads/" + thread + "/snapshots", "{\"name\":\"s\"}")
                .json()
                .string("snapshot_id");
        run("echo changed > a; rm b; echo new > c");
        awaitEvent("file.created", "c");
        api().post("/threads/" + thread + "/snapshots/" + snapshot + "/restore", "{}");

        awaitEvent("file.created", "b", 2);
        awaitEvent("file.deleted", "c");
        awaitEvent("file.modified", "a", 2);
    }

    @Test
    void restartedServerReportsOnlyDifferences() {
        run("echo x > a; mkdir d; echo y > d/b");
        awaitEvent("file.created", "d/b");
        api().post(
                        "/sandboxes/" + session + "/exec",
                        "{\"command\":\"until [ -e go ]; do sleep 0.1; done; echo z > later\",\"detach\":true}");
        run("touch go");
        server().restart();

        awaitEvent("file.created", "later");
        assertThat(list("?type=file.created"))
                .extracting(e -> e.object("event_data").string("path"))
                .containsExactlyInAnyOrder("a", "d", "d/b", "go", "later");
    }

    @Test
    void watchingFilesDoesNotExtendTheIdleTimeout() {
        String shortLived = api().post(
                        "/create_session",
                        "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\",\"timeout_minutes\":0.25}")
                .json()
                .string("session_id");
        api().execute(shortLived, "echo x > a");

        await().untilAsserted(() -> assertThat(
                        api().get("/api/v1/sandboxes/" + shortLived + "/events").text())
                .contains("\"file.created\"", "\"reason\":\"idle\""));
    }

    private void run(String script) {
        assertThat(api().execute(session, script).integer("exit_code")).isZero();
    }

    /// Runs the script while the guest is stopped by SIGSTOP. The guest then sees all changes at once, on a slow
    /// host too.
    private void runWhileGuestIsStopped(String script) {
        String workspace = api().execute(session, "mkdir -p .vivarium; rm -f .vivarium/done; pwd -P")
                .string("stdout")
                .strip();
        long guest = guest(session);
        Path done = outside(session, workspace + "/.vivarium/done");
        String whenStopped = "until grep -q '^State:.T' /proc/$PPID/status; do sleep 0.02; done; ";
        var started =
                api().post("/sandboxes/" + session + "/exec", detached(whenStopped + script + "; : > .vivarium/done"));
        assertThat(started.status()).as(started.text()).isLessThan(300);
        signal(guest, "STOP");
        try {
            await().until(() -> Files.exists(done));
        } finally {
            signal(guest, "CONT");
        }
    }

    private static String detached(String script) {
        byte[] body = Json.bytes(out -> {
            out.writeStringProperty("command", script);
            out.writeBooleanProperty("detach", true);
        });
        return new String(body, StandardCharsets.UTF_8);
    }

    private static void signal(long process, String name) {
        try {
            assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process))
                            .start()
                            .waitFor())
                    .isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void awaitEvent(String type, String path) {
        awaitEvent(type, path, 1);
    }

    private void awaitEvent(String type, String path, int times) {
        await().untilAsserted(() -> assertThat(list("?type=" + type))
                .filteredOn(e -> e.object("event_data").string("path").equals(path))
                .as("%s %s among %s", type, path, types(list("?type=file.")))
                .hasSizeGreaterThanOrEqualTo(times));
    }

    private JsonFields event(String type, String path) {
        return list("?type=" + type).stream()
                .map(e -> e.object("event_data"))
                .filter(data -> data.string("path").equals(path))
                .findFirst()
                .orElseThrow();
    }

    private List<JsonFields> list(String query) {
        return api().get(events(query)).json().objects("events");
    }

    private String events(String query) {
        return "/api/v1/sandboxes/" + session + "/events" + query;
    }

    private static List<String> types(List<JsonFields> events) {
        return events.stream().map(e -> e.string("event_type")).toList();
    }
}
