package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Runs in isolated sandboxes: no network, another user, freezing. Needs root.
@Tag("root")
class IsolatedRunsTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--memory-mb", "256", "--disk-mb", "64", "--pool-size", "1");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void agentReportsWithoutANetwork() {
        var run = AgentRun.of(server, "ls /sys/class/net; echo '{\"type\":\"result\",\"summary\":\"done\"}'");

        run.awaitStatus("completed");
        assertThat(run.run().object("task").object("result").string("summary")).isEqualTo("done");
        assertThat(server.api()
                        .execute(run.id(), "stat -c %a /workspace/.vivarium")
                        .string("stdout"))
                .isEqualTo("700\n");
    }

    /// Calls the API itself and prints no line of the worker protocol.
    private static final String SPEAKS_HTTP = """
            python3 - <<'END'
            import json, os, urllib.request
            def say(path, **body):
                url = os.environ["BACKEND_URL"] + "/api/v1" + path
                request = urllib.request.Request(url, json.dumps(body).encode())
                request.add_header("Authorization", "Bearer " + os.environ["SANDBOX_TOKEN"])
                request.add_header("Content-Type", "application/json")
                return json.load(urllib.request.urlopen(request))
            task = "/sandbox/task/" + os.environ["TASK_ID"]
            say("/sandboxes/" + os.environ["SANDBOX_ID"] + "/events",
                event_type="agent.message", event_data={"text": "said over HTTP"})
            say(task + "/progress", event_type="half_way", message="half way")
            say(task + "/results", status="completed", summary="handed in over HTTP", files_changed=[])
            print("and some output")
            END
            """;

    @Test
    void resultReportedOverHttpIsKept() {
        var run = AgentRun.of(server, SPEAKS_HTTP);

        run.awaitStatus("completed");
        assertThat(run.run().object("task").object("result").string("summary")).isEqualTo("handed in over HTTP");
        assertThat(run.events("agent.message")).contains("said over HTTP");
        assertThat(run.events("agent.progress")).contains("half way");
        assertThat(run.events("agent.output")).contains("and some output");
    }

    @Test
    void onlyTheProgramHasTheRunTokenAndNoProcessTheModelToken() {
        var run = AgentRun.of(server, "echo ready; while read line; do :; done");
        run.awaitEvent("agent.output");
        var found = server.api()
                .execute(
                        run.id(),
                        "grep -l SANDBOX_TOKEN=ey /proc/[0-9]*/environ 2>/dev/null | while read found; do"
                                + " cat ${found%environ}comm; done; grep -l MODEL_TOKEN= /proc/[0-9]*/environ 2>/dev/null;"
                                + " grep -rl SANDBOX_TOKEN=ey /workspace /tmp; true")
                .string("stdout");

        assertThat(found).isEqualTo("sh\n");
    }

    @Test
    void pausedRunStaysPausedAcrossARestartAndResumes() {
        var run = AgentRun.of(server, "until [ -e enough ]; do echo step; sleep 0.1; done");
        run.awaitEvent("agent.output");
        var paused = server.api().method("POST", run.path() + "/pause");
        assertThat(paused.json().string("status")).isEqualTo("paused");
        assertThat(run.sandbox().string("state")).isEqualTo("paused");
        server.restart();

        assertThat(run.sandbox().string("status")).isEqualTo("paused");
        await().until(() -> server.api().method("POST", run.path() + "/resume").status() == 200);
        server.api().execute(run.id(), "touch enough");
        run.awaitStatus("completed");
        assertThat(run.events("agent.completed")).contains("agent.completed");
    }
}
