package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Conversations of the real SDKs across sandboxes. Needs root.
@Tag("root")
@Timeout(900)
class ResumedAgentTest {
    private static RealAgents agents;
    private static TestServer server;

    @BeforeAll
    static void start() {
        agents = new RealAgents();
        server = TestServer.startIsolated(agents.arguments());
        RealAgents.provideImage(server.home());
    }

    @AfterAll
    static void stop() {
        server.close();
        agents.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void conversationResumesAfterSandboxAndServerAreGone(String runtime) {
        String answer = "The word is heron, says " + runtime + ".";
        agents.play(Step.saying(answer).when("Choose a word"));
        var first = RealAgentRun.spawn(server.api(), runtime, "Choose a word", "");
        var session = first.awaitEnd("completed").object("run").string("session");
        server.api().method("DELETE", RealAgents.SANDBOXES + "/" + first.sandbox());
        server.restart();
        assertThat(agents.asked()).doesNotContain(answer);

        agents.play(Step.saying("It was heron.").when("Which one was it?"));
        var second = RealAgentRun.spawn(
                server.api(), runtime, "Which one was it?", "\"resume_from\":\"" + first.sandbox() + "\"");
        var run = second.awaitEnd("completed").object("run");

        assertThat(second.awaitEvent("agent.completed").string("summary")).isEqualTo("It was heron.");
        // The model receives its own earlier answer only in the same conversation.
        assertThat(agents.asked()).contains(answer);
        assertThat(run.string("session")).isEqualTo(session);
        assertThat(run.number("cost_usd")).isCloseTo(0.00375, within(1e-6));
    }
}
