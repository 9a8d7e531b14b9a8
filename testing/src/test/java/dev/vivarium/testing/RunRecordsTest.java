package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.Json;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Records of a run: changed files, commands of tools, and no token.
@Timeout(300)
class RunRecordsTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start("--rate-limits", "off", "--after-run-minutes", "2");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void resultListsFilesThatAProgramChanged() {
        var run = AgentRun.of(server, "mkdir -p src; printf 'a\\nb\\n' > src/new.txt");
        run.awaitStatus("completed");

        String path = "/api/v1/runs/" + run.run().string("run_id");
        await().untilAsserted(() -> assertThat(
                        server.api().get(path).json().object("result").objects("files_changed"))
                .singleElement()
                .satisfies(file -> {
                    assertThat(file.string("path")).isEqualTo("src/new.txt");
                    assertThat(file.string("action")).isEqualTo("created");
                    assertThat(file.integer("lines_added")).isEqualTo(2);
                }));
    }

    @Test
    void liveTokenIsMaskedInOutputDiffsAndResults() {
        var run = AgentRun.of(
                server,
                "echo out $SANDBOX_TOKEN; echo $SANDBOX_TOKEN > stored.txt;"
                        + " echo '{\"type\":\"result\",\"summary\":\"'$SANDBOX_TOKEN'\"}'; until [ -e go ]; do sleep 0.05; done");
        run.awaitEvent("agent.output");
        // The watcher may see the file before its content: then a second event has the content.
        await().untilAsserted(() -> assertThat(run.events("file.")).contains("stored.txt", "+***"));
        String beginning = run.token(Audience.WORKER).split("\\.", 2)[0];
        server.api().execute(run.id(), "touch go");
        run.awaitStatus("completed");

        assertThat(run.events("agent.")).contains("out ***").doesNotContain(beginning);
        assertThat(run.events("file.")).doesNotContain(beginning);
        assertThat(server.api()
                        .get("/api/v1/runs/" + run.run().string("run_id"))
                        .text())
                .contains("***")
                .doesNotContain(beginning);
    }

    @Test
    void shellToolsOfAnAgentAppearAsCommands() {
        var run = AgentRun.of(server, "exec sleep 1000");
        run.awaitEvent("agent.started");
        var worker = run.worker();
        worker.post(
                run.path() + "/events",
                "{\"event_type\":\"agent.tool_use\",\"event_data\":{\"tool_use_id\":\"t1\",\"tool_name\":\"Bash\","
                        + "\"shell_command\":\"make test\"},\"source\":\"agent\"}");
        worker.post(
                run.path() + "/events",
                "{\"event_type\":\"agent.tool_result\",\"event_data\":{\"tool_use_id\":\"t1\",\"tool_name\":\"Bash\","
                        + "\"exit_code\":2,\"output\":\"no rule\\n\"},\"source\":\"agent\"}");

        run.awaitEvent("command.completed");
        assertThat(Json.answer(run.events("command.completed"))
                        .objects("events")
                        .getFirst()
                        .object("event_data")
                        .integer("exit_code"))
                .isEqualTo(2);
        assertThat(server.api().get(run.path() + "/terminal").json().text()).contains("$ make test", "no rule");
    }

    @Test
    void sandboxOfAFinishedRunHasAShortLease() {
        var run = AgentRun.of(server, "true");
        run.awaitStatus("completed");

        await().untilAsserted(() -> assertThat(Instant.parse(run.sandbox().string("expires_at")))
                .isBefore(Instant.now().plus(Duration.ofMinutes(3))));
        server.restart();
        assertThat(Instant.parse(run.sandbox().string("expires_at")))
                .as("after a restart of the server")
                .isBefore(Instant.now().plus(Duration.ofMinutes(3)));
        String thread = Api.thread();
        server.api().post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}");
        var second = AgentRun.of(server, "true", "\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"");
        second.awaitStatus("completed");
        assertThat(Instant.parse(second.sandbox().string("expires_at")))
                .as("the run did not create this sandbox")
                .isAfter(Instant.now().plus(Duration.ofMinutes(3)));
    }
}
