package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Workers that stop responding or crash, with real workers in sandboxes without isolation.
@Timeout(240)
class RestartedWorkerTest {
    private static final String TASKS = "/api/v1/tasks";

    /// Writes a file at its first start, and another one if it finds the first.
    private static final String PROGRAM =
            "if [ -e begun ]; then touch again; fi; touch begun; until [ -e go ]; do sleep 0.1; done";

    @RegisterExtension
    static final SharedServer SERVER =
            SharedServer.with("--rate-limits", "off", "--heartbeat-seconds", "2", "--heartbeat-check-seconds", "0.5");

    private static Api api() {
        return SERVER.api();
    }

    private static void signalWorker(String sandbox, String signal) {
        await().until(() -> api().execute(sandbox, "ls").string("stdout").contains("begun"));
        await().until(() -> api().get(AgentRun.SANDBOXES + "/" + sandbox).text().contains("\"last_heartbeat"));
        var worker = SERVER.get()
                .sandboxes()
                .require(new SandboxId(sandbox))
                .processes()
                .list()
                .getFirst();
        var sent = api().post(
                        "/sandboxes/" + sandbox + "/processes/" + worker.id() + "/signal",
                        "{\"name\":\"" + signal + "\"}");
        assertThat(sent.status()).as(sent.text()).isLessThan(300);
    }

    /// Waits for an event in the log of a sandbox, and returns its data.
    private static JsonFields awaitEvent(String sandbox, String type) {
        String path = AgentRun.SANDBOXES + "/" + sandbox + "/events?type=" + type;
        await().untilAsserted(() ->
                assertThat(api().get(path).json().objects("events")).as(type).isNotEmpty());
        return api().get(path).json().objects("events").getFirst().object("event_data");
    }

    private static void finish(String sandbox) {
        await().until(() -> api().execute(sandbox, "ls").string("stdout").contains("again"));
        api().execute(sandbox, "touch go");
    }

    @Test
    void aStoppedWorkerIsRestartedOnItsFilesInTheSameThread() throws IOException {
        var run = AgentRun.of(SERVER.get(), PROGRAM, "\"budget_usd\":5");
        String runId = run.run().string("run_id");
        signalWorker(run.id(), "STOP");

        JsonFields restarted = awaitEvent(run.id(), "sandbox.restarted");
        String next = restarted.string("next_sandbox_id");
        finish(next);
        await().untilAsserted(() -> assertThat(api().get(AgentRun.SANDBOXES + "/" + next)
                        .json()
                        .object("sandbox")
                        .string("status"))
                .isEqualTo("completed"));

        assertThat(restarted.string("reason_code")).isEqualTo("unresponsive");
        assertThat(restarted.flag("files")).isTrue();
        assertThat(awaitEvent(run.id(), "sandbox.heartbeat_missed").string("run_id"))
                .isEqualTo(runId);
        JsonFields probed = awaitEvent(run.id(), "sandbox.probed");
        assertThat(probed.string("worker")).isEqualTo("stopped");
        assertThat(probed.flag("guest")).isTrue();
        assertThat(probed.integer("children")).isPositive();
        JsonFields resumed =
                api().get("/api/v1/runs/" + restarted.string("next_run_id")).json();
        assertThat(resumed.string("thread_id")).isEqualTo(run.answer().string("thread_id"));
        assertThat(resumed.number("budget_usd")).isEqualTo(5);
        assertThat(bundle(runId))
                .containsKeys("summary.txt", "events.txt", "processes.txt", "output.txt", "memory.txt", "disk.txt");
        assertThat(bundle(runId).get("processes.txt")).contains("T stopped");
        assertThat(bundle(runId).get("events.txt")).contains("sandbox.probed");
        assertThat(api().get("/admin/audit?limit=100").text()).contains("system:liveness");
    }

    /// Returns the files of the forensics of a run.
    private static Map<String, String> bundle(String run) throws IOException {
        var answer = api().get("/api/v1/runs/" + run + "/forensics");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        var files = new HashMap<String, String>();
        try (var zip = new ZipInputStream(new ByteArrayInputStream(answer.bytes()))) {
            for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return files;
    }

    @Test
    void aRunWithoutForensicsHasNone() {
        var run = AgentRun.of(SERVER.get(), "true");
        run.awaitStatus("completed");

        var answer = api().get("/api/v1/runs/" + run.run().string("run_id") + "/forensics");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().string("type")).endsWith("no-forensics");
        assertThat(api().as("somebody")
                        .get("/api/v1/runs/" + run.run().string("run_id") + "/forensics")
                        .json()
                        .string("type"))
                .endsWith("unknown-run");
    }

    @Test
    void aKilledWorkerOfATaskIsRestartedOnItsFilesAndACrashLoopIsQuarantined() {
        String task = api().post(TASKS, """
                        {"title":"a task","runtime":"command","max_retries":10,"command":["sh","-c","%s"]}""".formatted(PROGRAM)).json().string("task_id");
        String sandbox = "";
        for (int attempt = 1; attempt <= 4; attempt++) {
            sandbox = awaitAttempt(task, attempt);
            signalWorker(sandbox, "KILL");
        }

        await().untilAsserted(
                        () -> assertThat(api().get(TASKS + "/" + task).json().string("status"))
                                .isEqualTo("failed"));
        List<JsonFields> attempts = api().get(TASKS + "/" + task).json().objects("attempts");
        assertThat(attempts)
                .extracting(attempt -> attempt.string("error_code"))
                .containsExactly("signal", "signal", "signal", "quarantined");
        assertThat(attempts).extracting(attempt -> attempt.string("sandbox_id")).doesNotHaveDuplicates();
        assertThat(awaitEvent(sandbox, "sandbox.quarantined").string("reason")).contains("3 times within 30 minutes");
        String last = sandbox;
        await().untilAsserted(() -> assertThat(api().get(AgentRun.SANDBOXES + "/" + last)
                        .json()
                        .object("sandbox")
                        .string("state"))
                .isEqualTo("paused"));
        // Traffic does not resume it, a person does.
        assertThat(api().post("/execute", Api.command(last, "ls")).status()).isEqualTo(409);
        assertThat(api().method("POST", AgentRun.SANDBOXES + "/" + last + "/resume")
                        .status())
                .isEqualTo(200);
        assertThat(api().execute(last, "ls").string("stdout")).contains("again");
    }

    /// Waits for the run of an attempt, and returns its sandbox.
    private static String awaitAttempt(String task, int attempt) {
        await().untilAsserted(() -> {
            JsonFields now = api().get(TASKS + "/" + task).json();
            assertThat(now.objects("attempts")).as(now.text()).hasSize(attempt);
            assertThat(now.string("status")).isEqualTo("running");
        });
        return api().get(TASKS + "/" + task).json().string("sandbox_id");
    }
}
