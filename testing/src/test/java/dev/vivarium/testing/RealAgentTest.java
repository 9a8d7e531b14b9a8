package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The real agent SDKs in real sandboxes on the image `worker`, without network and key. Needs root.
@Tag("root")
@Timeout(900)
class RealAgentTest {
    /// Price in dollars of 1000 input tokens and 50 output tokens of claude-sonnet-4-5.
    private static final double COST_OF_ANSWER = 0.00375;

    /// Limits the retries, so that a failing model does not delay the test for minutes.
    private static final String ONE_RETRY = "\"env\":{\"MODEL_RETRIES\":\"1\"}";

    private static final String UNTIL_GO_EXISTS = "until [ -e go ]; do sleep 0.05; done";

    private static RealAgents agents;
    private static TestServer server;
    private static Api api;

    @BeforeAll
    static void start() {
        agents = new RealAgents();
        server = TestServer.startIsolated(agents.arguments());
        RealAgents.provideImage(server.home());
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
        agents.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void messageChangesTheNextStepAndAllEventsArePublished(String runtime) {
        agents.play(
                Step.saying("I wait.").when("Call the API").running(runtime, UNTIL_GO_EXISTS),
                Step.saying("As you say.")
                        .when("use the other API")
                        .running(runtime, "echo other > .vivarium/new && mv .vivarium/new api.txt && cat api.txt"),
                Step.saying("As planned.").unless("other").running(runtime, "echo plain | tee api.txt"));
        var agent = spawn(runtime, "Call the API", "");
        agent.awaitEvent("agent.tool_use");
        agent.send("use the other API", "user_message");
        agent.awaitEvent("user.message_delivered");
        assertNoKeyInside(agent);
        agent.shell("touch go");
        var details = agent.awaitEnd("completed");

        assertThat(agent.shell("cat api.txt")).isEqualTo("other\n");
        assertThat(agent.awaitEvent("file.created", "api.txt").string("diff")).contains("+other");
        assertThat(agent.events("agent.message"))
                .extracting(event -> event.object("event_data").string("text"))
                .containsExactly("I wait.", "As you say.", "All done.");
        assertThat(agent.types())
                .containsSubsequence(
                        "sandbox.run_started",
                        "agent.started",
                        "agent.tool_use",
                        "user.message",
                        "agent.tool_result",
                        "agent.message_delivered",
                        "agent.tool_use",
                        "agent.tool_result",
                        "agent.completed",
                        "sandbox.run_ended");
        var run = details.object("run");
        assertThat(run.number("cost_usd")).isCloseTo(3 * COST_OF_ANSWER, within(1e-6));
        assertThat(run.object("usage").integer("input_tokens")).isEqualTo(3000);
        assertThat(run.object("usage").integer("output_tokens")).isEqualTo(150);
        assertThat(run.integer("tool_calls")).isEqualTo(2);
        assertThat(run.object("task").string("status")).isEqualTo("completed");
        var completed = agent.awaitEvent("agent.completed");
        assertThat(completed.string("summary")).isEqualTo("All done.");
        assertThat(agent.shell("grep -rl 'As you say.' " + completed.string("transcript")))
                .matches(".*" + completed.string("session_id").replace("-", "-?") + ".*\n");
        assertNoKeyInside(agent);
    }

    /// Asserts that files, environments and command lines in the sandbox hold no key, although the agent called the
    /// gateway. Other processes cannot read the worker's own tokens either.
    private static void assertNoKeyInside(RealAgentRun agent) {
        assertThat(agent.shell("env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n';"
                        + " grep -rs . /workspace /tmp /run /dev/shm --include='*' | cut -c -500"))
                .contains("/workspace/.vivarium/spool-")
                .doesNotContain("4711-never-inside", "SANDBOX_TOKEN=ey", "MODEL_TOKEN=ey");
        assertThat(agents.asked()).contains("Call the API");
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void interruptEndsTheRunningToolAndTheAgentContinues(String runtime) {
        agents.play(
                Step.saying("I wait.").when("Wait").running(runtime, UNTIL_GO_EXISTS),
                Step.saying("Better.").when("do this instead").running(runtime, "echo instead > instead.txt"));
        var agent = spawn(runtime, "Wait", "");
        agent.awaitEvent("agent.tool_use");
        agent.send("do this instead", "interrupt");
        agent.awaitEnd("completed");

        assertThat(agent.shell("cat instead.txt")).isEqualTo("instead\n");
        assertThat(agent.types()).contains("agent.interrupted");
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void budgetStopsTheRun(String runtime) {
        agents.play(Step.saying("More.").running(runtime, "true").always());
        var agent = spawn(runtime, "Spend", "\"budget_usd\":0.01," + ONE_RETRY);
        var failed = agent.awaitEnd("failed");

        assertThat(failed.string("reason")).contains("budget");
        assertThat(failed.object("run").number("cost_usd")).isBetween(0.01, 0.0151);
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void userAnswersAReview(String runtime) {
        var tool = runtime.equals("claude") ? "mcp__vivarium__request_review" : "request_review";
        var question = Map.of("reason", "merge", "description", "ours or theirs?");
        agents.play(
                Step.saying("I ask.").when("Merge").calling(tool, question),
                Step.saying("So it is.").when("approve"));
        var agent = spawn(runtime, "Merge", "");
        var asked = agent.awaitEvent("agent.review_requested");
        var path = RealAgents.SANDBOXES + "/" + agent.sandbox() + "/reviews/" + asked.string("review_id");
        assertThat(api.post(path, "{\"decision\":\"approve\"}").status()).isEqualTo(200);
        agent.awaitEnd("completed");

        assertThat(agent.awaitEvent("agent.completed").string("summary")).isEqualTo("So it is.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void conversationResumesInANewSandbox(String runtime) {
        agents.play(Step.saying("I remember 4711.").when("Think of a number"));
        var first = spawn(runtime, "Think of a number", "");
        first.awaitEnd("completed");
        api.method("DELETE", RealAgents.SANDBOXES + "/" + first.sandbox());
        agents.play(Step.saying("It was 4711.").when("What was it"));
        var second = spawn(runtime, "What was it?", "\"resume_from\":\"" + first.sandbox() + "\"");
        var details = second.awaitEnd("completed");

        assertThat(second.sandbox()).isNotEqualTo(first.sandbox());
        assertThat(agents.asked()).contains("I remember 4711.", "What was it?");
        assertThat(details.object("run").number("cost_usd")).isCloseTo(COST_OF_ANSWER, within(1e-6));
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude", "openhands"})
    void killedWorkerFailsTheRunAndItsConversationCanResume(String runtime) {
        agents.play(Step.saying("I begin.").when("Begin").running(runtime, "touch begun; " + UNTIL_GO_EXISTS));
        var first = spawn(runtime, "Begin", "");
        // The worker has published its first message by now. A kill loses events that the worker has not sent.
        first.awaitEvent("agent.tool_use");
        first.awaitEvent("file.created", "begun");
        first.shell("pkill -KILL -f '[w]orker.pyz'");
        assertThat(first.awaitEnd("failed").string("reason")).contains("signal 9");
        assertThat(first.events("agent.message"))
                .extracting(event -> event.object("event_data").string("text"))
                .containsExactly("I begin.");

        agents.play(Step.saying("I go on.").when("Go on"));
        var second = spawn(runtime, "Go on", "\"resume_from\":\"" + first.sandbox() + "\"");
        second.awaitEnd("completed");

        assertThat(agents.asked()).contains("I begin.", "Go on");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"kind\":\"garbage\"}", "{\"kind\":\"close\"}", "{\"kind\":\"status\",\"status\":529}"})
    void failingModelFailsTheRunWithAReason(String fault) {
        agents.play(new Step("\"fault\":" + fault).always());
        var failed = spawn("claude", "Speak", ONE_RETRY).awaitEnd("failed");

        assertThat(failed.string("reason")).containsAnyOf("529", "502", "model", "API Error", "overloaded");
    }

    @Test
    void missingAgentProgramFailsTheRunWithItsError() {
        var agent = RealAgentRun.spawn(api, "command", "Try", "\"command\":[\"/opt/vivarium/none\"]");

        assertThat(agent.awaitEnd("failed").string("reason"))
                .contains("/opt/vivarium/none could not be started: No such file or directory");
    }

    private static RealAgentRun spawn(String runtime, String title, String more) {
        return RealAgentRun.spawn(api, runtime, title, more);
    }
}
