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

/// A server whose home is on a small file system that is filled. Needs root.
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
        // The JVM unpacks the library of SQLite there, which the distribution has beside it.
        temporary = Files.createTempDirectory("viv-tmp");
        Files.createSymbolicLink(home.resolve("tmp"), temporary);
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        disk.drain();
        ServerProcess.purge(home);
        disk.close();
        FileTrees.delete(temporary);
    }

    @Test
    void aSandboxThatFillsTheDiskIsFrozenAndOthersGoOn() {
        try (var server = start()) {
            Api api = server.api();
            String other = api.session();
            String culprit = running(api, "while head -c 2M /dev/zero >> x; do sync; sleep 0.05; done");

            await().until(() -> state(api, culprit).equals("paused"));
            assertThat(sandbox(api, culprit).string("reason")).contains("disk: its disk grew by", "low-water mark");
            assertThat(disk.freeBytes()).isPositive();
            assertThat(api.execute(other, "echo on").string("stdout")).isEqualTo("on\n");
            assertFrozen(api, culprit);
            assertHealth(api, 200, "degraded", "low");

            assertThat(api.method("DELETE", "/admin/sandboxes/" + culprit).status())
                    .isEqualTo(200);
            await().untilAsserted(() -> assertHealth(api, 200, "healthy", "ok"));
            assertThat(api.execute(api.session(), "echo new").string("stdout")).isEqualTo("new\n");
            assertThat(audit(api, culprit)).contains("frozen", "ended");
        }
    }

    /// Neither a call nor a person wakes it while there is no space.
    private static void assertFrozen(Api api, String culprit) {
        Api.Answer call = api.post("/execute", Api.command(culprit, "echo on"));
        assertThat(call.status()).isEqualTo(507);
        assertThat(call.json().string("detail")).contains("is frozen: its disk grew by");
        assertThat(call.headers().firstValue("Retry-After")).isPresent();
        assertThat(api.post("/sandboxes/" + culprit + "/resume", "{}").status()).isEqualTo(507);
        assertThat(create(api).status()).isEqualTo(507);
        await().untilAsserted(() -> assertThat(
                        api.get(events(culprit) + "?type=sandbox.paused").text())
                .contains("\"reason\":\"disk\""));
    }

    @Test
    void aSandboxThatOutrunsTheGuardIsEnded() {
        try (var server = start()) {
            Api api = server.api();
            String other = api.session();
            String culprit = running(api, "cat /dev/zero > x");
            await().until(() -> state(api, culprit).equals("paused"));

            assertThat(api.get("/health").status()).isIn(200, 503);
            assertThat(api.post("/cleanup", "{\"session_id\":\"" + culprit + "\"}")
                            .status())
                    .isEqualTo(200);
            await().untilAsserted(() -> assertHealth(api, 200, "healthy", "ok"));
            assertThat(api.execute(other, "echo on").string("stdout")).isEqualTo("on\n");
            assertThat(create(api).status()).isEqualTo(201);
        }
    }

    @Test
    void aFrozenSandboxStaysFrozenOverARestartUntilAPersonResumesIt() {
        String culprit;
        try (var server = start()) {
            culprit = running(server.api(), "while head -c 2M /dev/zero >> x; do sync; sleep 0.05; done");
            await().until(() -> state(server.api(), culprit).equals("paused"));
        }
        try (var server = start("--disk-low-water-mb", "1")) {
            Api api = server.api();
            assertThat(sandbox(api, culprit).string("reason")).contains("disk");
            assertThat(api.post("/execute", Api.command(culprit, "true")).status())
                    .isEqualTo(507);
            assertThat(api.post("/sandboxes/" + culprit + "/resume", "{}").status())
                    .isEqualTo(200);
            assertThat(state(api, culprit)).isEqualTo("running");
        }
    }

    @Test
    void aFullDiskIsClearedByEndingSandboxes() {
        try (var server = start()) {
            Api api = server.api();
            String first = loaded(api);
            String second = loaded(api);
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
            assertThat(disk.freeBytes()).as("its space came back").isGreaterThan(20L << 20);

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
    void anEndOnAFullDiskWithoutAReserveSurvivesAKill() {
        String session;
        try (var server = start("--store-reserve-mb", "0")) {
            Api api = server.api();
            session = loaded(api);
            disk.fill();
            await().untilAsserted(() -> assertHealth(api, 503, "unhealthy", "full"));
            assertThat(api.method("DELETE", "/admin/sandboxes/" + session).status())
                    .isEqualTo(200);
        }
        disk.drain();
        try (var server = start()) {
            var gone = server.api().post("/execute", Api.command(session, "true"));
            assertThat(gone.status()).isEqualTo(404);
            assertThat(gone.json().object("end").string("detail")).isEqualTo("ended by the admin");
        }
    }

    @Test
    void disksAreNotPromisedBeyondTheOvercommit() {
        try (var server = start("--disk-overcommit", "4")) {
            Api api = server.api();
            // About 700 MB are free: one disk of 2,000 MB fits into four times that, and two do not.
            await().until(() -> api.get("/health").json().object("disk").integer("free_bytes") > 0);
            api.session();
            await().untilAsserted(() -> {
                Api.Answer refused = create(api);
                assertThat(refused.status()).isEqualTo(507);
                assertThat(refused.json().string("detail")).contains("a disk of 2000 MiB", "disk-overcommit is 4.0");
            });
        }
    }

    private ServerProcess start(String... more) {
        var arguments = new ArrayList<>(List.of("--pool-size", "0", "--disk-mb", "2000", "--memory-mb", "48"));
        arguments.addAll(List.of(more));
        return ServerProcess.start(home, arguments.toArray(new String[0]));
    }

    /// A sandbox in which a command goes on by itself.
    private static String running(Api api, String command) {
        String session = api.session();
        String path = "/sandboxes/" + session + "/exec";
        assertThat(api.post(path, "{\"command\":\"" + command + "\",\"detach\":true}")
                        .status())
                .isLessThan(300);
        return session;
    }

    /// A sandbox whose disk holds 40 MB.
    private static String loaded(Api api) {
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
