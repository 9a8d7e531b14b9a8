package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import java.time.Duration;
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
    private static final String TASKS = "/api/v1/tasks";

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

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void aTaskInheritsTheConversationAndTheFilesOfItsPredecessor(String runtime) {
        String answer = "The bird is an osprey, says " + runtime + ".";
        agents.play(Step.saying(answer).when("Choose a bird"));
        String first = task("Choose a bird", runtime, "");
        server.api().execute(awaitCompleted(first), "echo osprey > word.txt");
        assertThat(agents.asked()).doesNotContain(answer);

        agents.play(Step.saying("I look.").when("Which bird was it?").running(runtime, "cp word.txt copy.txt"));
        String second = task("Which bird was it?", runtime, """
                ,"depends_on":["%s"],"inherit":{"from":"%s","files":true,"conversation":true}""".formatted(first, first));
        String sandbox = awaitCompleted(second);

        assertThat(agents.asked()).contains(answer);
        assertThat(server.api().execute(sandbox, "cat copy.txt").string("stdout"))
                .isEqualTo("osprey\n");
    }

    private static String task(String title, String runtime, String more) {
        var added =
                server.api().post(TASKS, "{\"title\":\"" + title + "\",\"runtime\":\"" + runtime + "\"" + more + "}");
        assertThat(added.status()).as(added.text()).isEqualTo(201);
        return added.json().string("task_id");
    }

    /// Waits for the end of a task, and returns its sandbox.
    private static String awaitCompleted(String task) {
        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> {
            JsonFields now = server.api().get(TASKS + "/" + task).json();
            assertThat(now.string("status")).as(now.text()).isEqualTo("completed");
        });
        return server.api().get(TASKS + "/" + task).json().string("sandbox_id");
    }
}
