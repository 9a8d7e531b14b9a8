package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Runs by their ids: earlier runs, cancellation, and the reasons of their ends.
@Timeout(300)
class RunHistoryTest {
    private static final String RUNS = "/api/v1/runs";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start("--rate-limits", "off", "--max-restarts", "0");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void earlierRunsOfAThreadStayVisible() {
        String thread = Api.thread();
        var first = AgentRun.of(server, "echo first words", inThread(thread));
        first.awaitStatus("completed");
        String firstId = first.run().string("run_id");
        var second = AgentRun.of(server, "echo second words", inThread(thread));
        String secondId = second.answer().string("run_id");
        second.awaitStatus("completed");

        assertThat(ids(server.api().get(RUNS + "?thread_id=" + thread).json())).containsExactly(secondId, firstId);
        assertThat(ids(server.api().get(RUNS + "?task_id=" + first.task()).json()))
                .containsExactly(firstId);
        assertThat(ids(server.api()
                        .get(RUNS + "?thread_id=" + thread + "&status=failed")
                        .json()))
                .isEmpty();
        assertThat(server.api()
                        .get(AgentRun.SANDBOXES + "?task_id=" + first.task())
                        .json()
                        .objects("sandboxes"))
                .singleElement()
                .satisfies(box -> assertThat(box.object("run").string("run_id")).isEqualTo(firstId));
        var record = server.api().get(RUNS + "/" + firstId).json();
        assertThat(record.string("task_title")).isEqualTo("a task");
        assertThat(record.string("reason_code")).isEqualTo("completed");
        assertThat(record.object("result").string("summary")).isEqualTo("first words");
        assertThat(record.object("transcript").text()).contains("first words").doesNotContain("second words");
    }

    @Test
    void historyHasPagesAndOutlivesTheSandbox() {
        String thread = Api.thread();
        var first = AgentRun.of(server, "true", inThread(thread));
        first.awaitStatus("completed");
        var second = AgentRun.of(server, "true", inThread(thread));
        second.awaitStatus("completed");
        server.api().method("DELETE", second.path());

        var page = server.api().get(RUNS + "?limit=1&thread_id=" + thread).json();
        var next = server.api()
                .get(RUNS + "?limit=1&thread_id=" + thread + "&cursor=" + page.string("next_cursor"))
                .json();
        assertThat(ids(page)).containsExactly(second.answer().string("run_id"));
        assertThat(ids(next)).containsExactly(first.answer().string("run_id"));
        assertThat(next.optionalString("next_cursor")).isEmpty();
        assertThat(server.api().get(RUNS + "?cursor=x").status()).isEqualTo(400);
    }

    @Test
    void runsOfOtherUsersAreNotFound() {
        var run = AgentRun.of(server, "sleep 1000");
        String path = RUNS + "/" + run.answer().string("run_id");
        var stranger = server.api().as("stranger");

        assertThat(stranger.get(path).status()).isEqualTo(404);
        assertThat(stranger.post(path + "/cancel", "").status()).isEqualTo(404);
        assertThat(ids(stranger.get(RUNS).json())).isEmpty();
        assertThat(server.api().get(RUNS + "/runaaaaaaaaaaaaaaaaaaaa").json().string("detail"))
                .contains("viv runs");
    }

    @Test
    void cancelledRunEndsWithItsProcessesAndItsSandboxStays() {
        String marker = "/tmp/" + UUID.randomUUID();
        var run = AgentRun.of(server, "setsid sh -c 'while true; do sleep 0.05; done' " + marker + " & sleep 1000");
        await().until(() -> processes(run, marker) > 0);
        String path = RUNS + "/" + run.answer().string("run_id");

        assertThat(server.api().post(path + "/cancel", "").status()).isEqualTo(202);
        run.awaitStatus("failed");
        assertThat(run.run().string("reason_code")).isEqualTo("aborted");
        assertThat(run.sandbox().string("reason")).isEqualTo("stopped by request");
        assertThat(run.sandbox().string("state")).isEqualTo("running");
        assertThat(processes(run, marker)).isZero();
        assertThat(server.api().post(path + "/cancel", "").status()).isEqualTo(409);
        var next = AgentRun.of(server, "true", inThread(run.answer().string("thread_id")));
        next.awaitStatus("completed");
    }

    @Test
    void killedWorkerFailsTheRunAndEndsItsProcesses() {
        String marker = "/tmp/" + UUID.randomUUID();
        var run = AgentRun.of(server, "setsid sh -c 'while true; do sleep 0.05; done' " + marker + " & sleep 1000");
        await().until(() -> processes(run, marker) > 0);
        var worker = server.sandboxes()
                .require(new SandboxId(run.id()))
                .processes()
                .list()
                .getFirst();
        server.api().post("/sandboxes/" + run.id() + "/processes/" + worker.id() + "/signal", "{\"name\":\"KILL\"}");

        run.awaitStatus("failed");
        assertThat(run.run().string("reason_code")).isEqualTo("signal");
        assertThat(processes(run, marker)).isZero();
        assertThat(run.events("agent.failed")).contains("\"reason_code\":\"signal\"", "\"cost_usd\":0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "exit 7|failed|exit_status",
                "kill -9 $$|failed|signal",
                "echo '{\"type\":\"event\",\"event_type\":\"agent.failed\",\"data\":{\"reason\":\"no key\"}}'|failed|failed",
                "echo '{\"type\":\"result\",\"status\":\"failed\",\"summary\":\"no key\"}'|failed|failed",
                "true|completed|completed",
            })
    void endHasAReasonCode(String script, String status, String code) {
        var run = AgentRun.of(server, script);

        run.awaitStatus(status);
        assertThat(run.run().string("reason_code")).isEqualTo(code);
        run.awaitEvent("sandbox.run_ended");
        assertThat(run.events("sandbox.run_ended")).contains("\"reason_code\":\"" + code + "\"");
    }

    @Test
    void failureThatTheProgramPostsIsFinal() {
        var run = AgentRun.of(server, "until [ -e go ]; do sleep 0.05; done");
        run.awaitEvent("agent.started");
        var posted = run.worker()
                .post(
                        run.path() + "/events",
                        "{\"event_type\":\"agent.failed\",\"event_data\":{\"reason\":\"no access\"},\"source\":\"agent\"}");
        assertThat(posted.status()).isEqualTo(201);
        server.api().execute(run.id(), "touch go");

        run.awaitStatus("failed");
        assertThat(run.sandbox().string("reason")).isEqualTo("no access");
    }

    @Test
    void timeLimitHasAReasonCode() {
        String body = AgentRun.body("exec sleep 1000", "")
                .replace("\"title\":", "\"constraints\":{\"time_limit_minutes\":0.01},\"title\":");
        var spawned = server.api().post(AgentRun.SANDBOXES, body).json();

        await().untilAsserted(() -> assertThat(server.api()
                        .get(RUNS + "/" + spawned.string("run_id"))
                        .json()
                        .optionalString("reason_code"))
                .contains("time_limit"));
    }

    @Test
    void endOfTheSandboxIsAnAbort() {
        var run = AgentRun.of(server, "sleep 1000");
        server.api().method("DELETE", run.path());

        run.awaitStatus("terminated");
        assertThat(run.run().string("reason_code")).isEqualTo("aborted");
    }

    @Test
    void spentBudgetIsInTheResultAndInTheLastEvent() {
        var run = AgentRun.of(
                server, "echo '{\"type\":\"usage\",\"cost_usd\":0.75}'; exec sleep 1000", "\"budget_usd\":0.5");

        run.awaitStatus("failed");
        assertThat(run.run().string("reason_code")).isEqualTo("budget");
        var record = server.api().get(RUNS + "/" + run.run().string("run_id")).json();
        assertThat(record.object("result").string("summary")).startsWith("budget: spent $0.75 of $0.5");
        assertThat(run.events("agent.failed")).contains("\"reason_code\":\"budget\"", "\"cost_usd\":0.75");
    }

    private static String inThread(String thread) {
        return "\"thread_id\":\"" + thread + "\"";
    }

    private static List<String> ids(JsonFields page) {
        return page.objects("runs").stream().map(run -> run.string("run_id")).toList();
    }

    /// Number of processes with this argument.
    private static int processes(AgentRun run, String argument) {
        String count = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx "
                + argument.replace("/tmp/", "/tm[p]/") + " || true";
        return Integer.parseInt(
                server.api().execute(run.id(), count).string("stdout").strip());
    }
}
