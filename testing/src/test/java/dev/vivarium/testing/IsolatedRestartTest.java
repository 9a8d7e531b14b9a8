package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Restarts after the failure of an isolated sandbox: killed guest, lack of memory, full disk. Needs root.
@Tag("root")
@Timeout(240)
class IsolatedRestartTest {
    private static final String CONTINUE = "if [ -e begun ]; then touch again; exec sleep 1000; fi; touch begun; ";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated(
                "--rate-limits",
                "off",
                "--heartbeat-seconds",
                "2",
                "--heartbeat-check-seconds",
                "0.5",
                "--disk-mb",
                "32");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /// Starts a run, and waits until its program has begun and its worker has sent a heartbeat.
    private static AgentRun begin(String script, String more) {
        var run = AgentRun.of(server, script, more);
        await().until(() ->
                server.api().execute(run.id(), "ls").string("stdout").contains("begun"));
        await().until(() -> server.api().get(run.path()).text().contains("\"last_heartbeat"));
        return run;
    }

    private static JsonFields awaitEvent(AgentRun run, String type) {
        run.awaitEvent(type);
        return server.api()
                .get(run.path() + "/events?type=" + type)
                .json()
                .objects("events")
                .getFirst()
                .object("event_data");
    }

    private static void assertContinues(JsonFields restarted) {
        assertThat(restarted.flag("files")).isTrue();
        String next = restarted.string("next_sandbox_id");
        await().until(() -> server.api().execute(next, "ls").string("stdout").contains("again"));
        server.api().method("DELETE", AgentRun.SANDBOXES + "/" + next);
    }

    @Test
    void aKilledGuestIsReplacedOnItsFiles() throws IOException {
        var run = begin(CONTINUE + "exec sleep 1000", "");
        String init = Files.readString(
                        server.home().resolve("run").resolve(run.id()).resolve("pid"))
                .strip();
        ProcessHandle.of(Long.parseLong(init)).orElseThrow().destroyForcibly();

        JsonFields restarted = awaitEvent(run, "sandbox.restarted");

        assertThat(restarted.string("reason_code")).isEqualTo("crashed");
        assertContinues(restarted);
    }

    @Test
    void aWorkerThatIsKilledForLackOfMemoryIsReplacedOnItsFiles() {
        // The kernel kills the hog first. The server counts a kill right after it as a lack of memory too.
        String hog = "until [ -e hog ]; do sleep 0.1; done; head -c 400m /dev/zero | tail > /dev/null; kill -9 $PPID";
        var run = begin(CONTINUE + hog, "\"limits\":{\"memory_mb\":96}");
        server.api().execute(run.id(), "touch hog");

        JsonFields restarted = awaitEvent(run, "sandbox.restarted");

        assertThat(restarted.string("reason_code")).isEqualTo("oom");
        assertContinues(restarted);
    }

    @Test
    void aSilentWorkerOnAFullDiskIsQuarantined() {
        var run = begin(CONTINUE + "head -c 64m /dev/zero > fill; exec sleep 1000", "");
        await().until(() -> server.api()
                .execute(run.id(), "test $(df -k --output=avail . | tail -n 1) -lt 1024 && echo full")
                .string("stdout")
                .contains("full"));
        var worker = server.sandboxes()
                .require(new SandboxId(run.id()))
                .processes()
                .list()
                .getFirst();
        server.api().post("/sandboxes/" + run.id() + "/processes/" + worker.id() + "/signal", "{\"name\":\"STOP\"}");

        assertThat(awaitEvent(run, "sandbox.quarantined").string("reason")).contains("disk is full");
        assertThat(run.run().string("reason_code")).isEqualTo("quarantined");
        run.awaitEvent("sandbox.paused");
        assertThat(run.events("sandbox.paused")).contains("\"quarantine\"");
    }
}
