package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Conversations of the real SDKs across a restart of the worker. Needs root.
@Tag("root")
@Timeout(600)
class RestartedAgentTest {
    private static RealAgents agents;
    private static TestServer server;

    @BeforeAll
    static void start() {
        agents = new RealAgents();
        server = TestServer.startIsolated(agents.arguments("--max-restarts", "3"));
        RealAgents.provideImage(server.home());
    }

    @AfterAll
    static void stop() {
        server.close();
        agents.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void anAgentWhoseWorkerIsKilledResumesItsConversationOnItsFiles(String runtime) {
        String begin = "I begin, says " + runtime + ".";
        agents.play(
                Step.saying(begin).when("Work").running(runtime, "echo one > one.txt; sleep 1000"),
                Step.saying("I go on.").running(runtime, "cat one.txt > two.txt"));
        var first = RealAgentRun.spawn(server.api(), runtime, "Work", "");
        first.awaitEvent("file.created", "one.txt");
        first.awaitEvent("agent.transcript");
        first.shell("pkill -KILL -o -f '[w]orker.pyz'");
        await().atMost(Duration.ofMinutes(2))
                .until(() -> !first.events("sandbox.restarted").isEmpty());
        var restarted = first.awaitEvent("sandbox.restarted");
        var second = new RealAgentRun(server.api(), restarted.string("next_sandbox_id"));
        second.awaitEnd("completed");

        assertThat(restarted.flag("files")).isTrue();
        assertThat(restarted.flag("conversation")).isTrue();
        assertThat(second.shell("cat two.txt")).isEqualTo("one\n");
        // The model receives its own earlier answer only in the same conversation.
        assertThat(agents.asked()).contains(begin);
    }
}
