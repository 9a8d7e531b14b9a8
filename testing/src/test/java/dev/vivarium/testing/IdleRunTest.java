package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Runs that are alive and do no work.
@Timeout(120)
class IdleRunTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(
            "--rate-limits", "off", "--idle-threshold-minutes", "0.05", "--idle-check-interval-seconds", "0.5");

    @Test
    void anIdleRunEndsWithItsSandboxAndFailsItsTaskWithoutARetry() {
        String task = SERVER.api().post("/api/v1/tasks", """
                        {"title":"a task","runtime":"command","command":["sleep","1000"]}""").json().string("task_id");
        String path = "/api/v1/tasks/" + task;
        await().untilAsserted(() ->
                assertThat(SERVER.api().get(path).json().string("status")).isEqualTo("failed"));

        var attempts = SERVER.api().get(path).json().objects("attempts");
        assertThat(attempts).singleElement().satisfies(attempt -> {
            assertThat(attempt.string("error_code")).isEqualTo("idle");
            assertThat(attempt.string("error_message")).contains("no work and no input for");
        });
        String sandbox = attempts.getFirst().string("sandbox_id");
        String events = AgentRun.SANDBOXES + "/" + sandbox + "/events?limit=1000&type=sandbox.";
        await().untilAsserted(() -> assertThat(SERVER.api().get(events).text())
                .contains("\"sandbox.terminated_idle\"", "last_work_at", "idle_duration", "\"sandbox.terminated\""));
        assertThat(SERVER.api().get("/admin/audit?limit=100").text()).contains("system:liveness");
    }

    @Test
    void aRunThatWorksContinues() {
        var run = AgentRun.of(SERVER.get(), "i=0; while [ $i -lt 12 ]; do echo $i; i=$((i+1)); sleep 0.5; done");

        run.awaitStatus("completed");
    }
}
