package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Agents where sandboxes are isolated: no network, another user, freezing. Needs root.
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
    void anAgentWorksAndReportsWithoutANetwork() {
        var run = AgentRun.of(server, "ls /sys/class/net; echo '{\"type\":\"result\",\"summary\":\"done\"}'");

        run.awaitStatus("completed");
        assertThat(run.run().object("task").object("result").string("summary")).isEqualTo("done");
        assertThat(server.api()
                        .execute(run.id(), "stat -c %a /workspace/.vivarium")
                        .string("stdout"))
                .isEqualTo("700\n");
    }

    @Test
    void theTokensOfTheWorkerAreNotToBeFoundInside() {
        var run = AgentRun.of(server, "exec sleep 1000");
        run.awaitEvent("agent.started");
        var found = server.api()
                .execute(
                        run.id(),
                        "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '^SANDBOX_TOKEN=';"
                                + " grep -rl worker+jwt /workspace /tmp; true")
                .string("stdout");

        assertThat(found).isEqualTo("0\n");
    }

    @Test
    void aPausedRunStandsStillAlsoThroughARestartAndThenGoesOn() {
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
