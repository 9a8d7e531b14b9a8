package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.json.JsonFields;
import dev.vivarium.testbed.SmallFileSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Server whose home is on a small file system that runs full. Needs root.
@Tag("root")
class FullDiskTest {
    private static final int MEGABYTES = 800;

    private SmallFileSystem disk;
    private Path home;
    private Path temporary;

    @BeforeEach
    void makeHome() throws IOException {
        disk = SmallFileSystem.make(MEGABYTES);
        home = Files.createDirectory(disk.root().resolve("h"));
        // The JVM unpacks the SQLite library into the temporary directory. The distribution ships the library as a
        // file.
        temporary = Files.createTempDirectory("viv-tmp");
        Files.createSymbolicLink(home.resolve("tmp"), temporary);
    }

    @AfterEach
    void cleanUp() throws IOException {
        disk.drain();
        ServerProcess.purge(home);
        disk.close();
        FileTrees.delete(temporary);
    }

    @Test
    void sandboxThatFillsTheDiskIsFrozenAndOthersKeepRunning() {
        try (var server = start()) {
            Api api = server.api();
            String other = api.session();
            String writer = running(api, "while head -c 4M /dev/zero >> x; do sync; sleep 0.05; done");

            await().until(() -> state(api, writer).equals("paused"));
            assertThat(sandbox(api, writer).string("reason")).contains("disk: its disk grew by", "low-water mark");
            assertThat(disk.freeBytes()).isPositive();
            assertThat(api.execute(other, "echo on").string("stdout")).isEqualTo("on\n");
            assertFrozen(api, writer);
            assertHealth(api, 200, "degraded", "low");

            assertThat(api.method("DELETE", "/admin/sandboxes/" + writer).status())
                    .isEqualTo(200);
            await().untilAsserted(() -> assertHealth(api, 200, "healthy", "ok"));
            assertThat(api.execute(api.session(), "echo new").string("stdout")).isEqualTo("new\n");
            assertThat(audit(api, writer)).contains("frozen", "ended");
        }
    }

    /// Neither a call nor a user resumes the sandbox while the disk is full.
    private static void assertFrozen(Api api, String writer) {
        Api.Answer call = api.post("/execute", Api.command(writer, "echo on"));
        assertThat(call.status()).isEqualTo(507);
        assertThat(call.json().string("detail")).contains("is frozen: its disk grew by");
        assertThat(call.headers().firstValue("Retry-After")).isPresent();
        assertThat(api.post("/sandboxes/" + writer + "/resume", "{}").status()).isEqualTo(507);
        assertThat(create(api).status()).isEqualTo(507);
        await().untilAsserted(() -> assertThat(
                        api.get(events(writer) + "?type=sandbox.paused").text())
                .contains("\"reason\":\"disk\""));
    }

    @Test
    void fastWriterIsFrozenAndEndingItFreesTheDisk() {
        try (var server = start()) {
            Api api = server.api();
            String other = api.session();
            String writer = running(api, "cat /dev/zero > x");
            await().until(() -> state(api, writer).equals("paused"));

            assertThat(api.get("/health").status()).isIn(200, 503);
            assertThat(api.post("/cleanup", "{\"session_id\":\"" + writer + "\"}")
                            .status())
                    .isEqualTo(200);
            await().untilAsserted(() -> assertHealth(api, 200, "healthy", "ok"));
            assertThat(api.execute(other, "echo on").string("stdout")).isEqualTo("on\n");
            assertThat(create(api).status()).isEqualTo(201);
        }
    }

    @Test
    void frozenSandboxStaysFrozenAcrossARestartUntilResumed() {
        String writer;
        try (var server = start()) {
            writer = running(server.api(), "while head -c 4M /dev/zero >> x; do sync; sleep 0.05; done");
            await().until(() -> state(server.api(), writer).equals("paused"));
        }
        try (var server = start("--disk-low-water-mb", "1")) {
            Api api = server.api();
            assertThat(sandbox(api, writer).string("reason")).contains("disk");
            assertThat(api.post("/execute", Api.command(writer, "true")).status())
                    .isEqualTo(507);
            assertThat(api.post("/sandboxes/" + writer + "/resume", "{}").status())
                    .isEqualTo(200);
            assertThat(state(api, writer)).isEqualTo("running");
        }
    }

    @Test
    void endingSandboxesFreesAFullDisk() {
        try (var server = start()) {
            Api api = server.api();
            String first = withLargeFile(api);
            String second = withLargeFile(api);
            String bystander = api.session();
            assertThat(event(api, bystander, "agent.kept").status()).isEqualTo(201);
            disk.fill();
            await().untilAsserted(() -> assertHealth(api, 503, "unhealthy", "full"));
            assertThat(create(api).status()).isEqualTo(507);
            assertThat(api.upload(bystander, "f", "text").status()).isEqualTo(507);
            assertThat(event(api, bystander, "agent.refused").status()).isEqualTo(507);

            assertThat(api.method("DELETE", "/admin/sandboxes/" + first).status())
                    .isEqualTo(200);
            assertThat(audit(api, first)).contains("ended");
            disk.fill();
            await().untilAsserted(() -> assertHealth(api, 503, "unhealthy", "full"));
            assertThat(api.post("/cleanup", "{\"session_id\":\"" + second + "\"}")
                            .status())
                    .isEqualTo(200);
            assertThat(api.get(events(second) + "?type=sandbox.terminated").text())
                    .contains("cleaned up by request");
            assertThat(disk.freeBytes())
                    .as("the disk space of the ended sandbox is free")
                    .isGreaterThan(20L << 20);

            disk.drain();
            await().untilAsserted(() -> assertHealth(api, 200, "healthy", "ok"));
            assertThat(create(api).status()).isEqualTo(201);
            assertThat(api.execute(bystander, "echo on").string("stdout")).isEqualTo("on\n");
            assertThat(api.get(events(bystander) + "?type=agent.").text())
                    .contains("agent.kept")
                    .doesNotContain("agent.refused");
        }
    }

    @Test
    void terminationOnAFullDiskSurvivesAServerKill() {
        String session;
        try (var server = start("--store-reserve-mb", "0")) {
            Api api = server.api();
            session = withLargeFile(api);
            disk.fill();
            await().untilAsserted(() -> assertHealth(api, 503, "unhealthy", "full"));
            assertThat(api.method("DELETE", "/admin/sandboxes/" + session).status())
                    .isEqualTo(200);
        }
        disk.drain();
        try (var server = start()) {
            var ended = server.api().post("/execute", Api.command(session, "true"));
            assertThat(ended.status()).isEqualTo(404);
            assertThat(ended.json().object("end").string("detail")).isEqualTo("ended by the admin");
        }
    }

    @Test
    void disksAreNotAllocatedBeyondTheOvercommit() {
        try (var server = start("--disk-overcommit", "4")) {
            Api api = server.api();
            // About 700 MB are free. Four times that is enough for one disk of 2,000 MB, but not for two.
            await().until(() -> api.get("/health").json().object("disk").integer("free_bytes") > 0);
            api.session();
            await().untilAsserted(() -> {
                Api.Answer rejected = create(api);
                assertThat(rejected.status()).isEqualTo(507);
                assertThat(rejected.json().string("detail")).contains("a disk of 2000 MiB", "disk-overcommit is 4.0");
            });
        }
    }

    private ServerProcess start(String... more) {
        var arguments = new ArrayList<>(List.of("--pool-size", "0", "--disk-mb", "2000", "--memory-mb", "48"));
        arguments.addAll(List.of(more));
        return ServerProcess.start(home, arguments.toArray(new String[0]));
    }

    /// Creates a sandbox with a detached command.
    private static String running(Api api, String command) {
        String session = api.session();
        String path = "/sandboxes/" + session + "/exec";
        assertThat(api.post(path, "{\"command\":\"" + command + "\",\"detach\":true}")
                        .status())
                .isLessThan(300);
        return session;
    }

    /// Creates a sandbox whose disk holds 40 MB.
    private static String withLargeFile(Api api) {
        String session = api.session();
        assertThat(api.execute(session, "head -c 40M /dev/urandom > big && sync")
                        .integer("exit_code"))
                .isZero();
        return session;
    }

    private static Api.Answer create(Api api) {
        return api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"}");
    }

    private static Api.Answer event(Api api, String session, String type) {
        return api.post(events(session), "{\"event_type\":\"" + type + "\",\"event_data\":{}}");
    }

    private static String events(String session) {
        return "/api/v1/sandboxes/" + session + "/events";
    }

    private static JsonFields sandbox(Api api, String session) {
        return api.get("/api/v1/sandboxes/" + session).json().object("sandbox");
    }

    private static String state(Api api, String session) {
        return sandbox(api, session).string("state");
    }

    private static String audit(Api api, String session) {
        return api.get("/admin/audit?sandbox_id=" + session).text();
    }

    private static void assertHealth(Api api, int code, String status, String diskState) {
        Api.Answer health = api.get("/health");
        assertThat(health.json().string("status")).isEqualTo(status);
        assertThat(health.status()).isEqualTo(code);
        assertThat(health.json().object("disk").string("state")).isEqualTo(diskState);
    }
}
