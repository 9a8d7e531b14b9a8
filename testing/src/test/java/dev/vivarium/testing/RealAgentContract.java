package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Contract of a real agent SDK in real sandboxes on the image `worker`, without network and key. Needs root. Each SDK
/// has its own class, so that they run in parallel.
@Tag("root")
@Timeout(900)
abstract class RealAgentContract {
    /// Price in dollars of 1000 input tokens and 50 output tokens of claude-sonnet-4-5.
    private static final double COST_OF_ANSWER = 0.00375;

    /// Limits the retries, so that a failing model does not delay the test for minutes.
    static final String ONE_RETRY = "\"env\":{\"MODEL_RETRIES\":\"1\"}";

    /// The worker does not know the process ids of its tools.
    private static final int PID_OF_TOOLS = 0;

    private static final String UNTIL_GO_EXISTS = "until [ -e go ]; do sleep 0.05; done";

    static RealAgents agents;
    static Api api;
    private static TestServer server;

    private final String runtime;

    RealAgentContract(String runtime) {
        this.runtime = runtime;
    }

    @BeforeAll
    static void start() {
        agents = new RealAgents();
        server = TestServer.startIsolated(
                agents.arguments("--guardian-cooldown-seconds", "2", "--guardian-answer-minutes", "0.05"));
        RealAgents.provideImage(server.home());
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
        agents.close();
    }

    @Test
    void messageChangesTheNextStepAndAllEventsArePublished() {
        agents.play(
                Step.saying("I wait.").when("Call the API").running(runtime, UNTIL_GO_EXISTS),
                Step.saying("As you say.")
                        .when("use the other API")
                        .running(runtime, "echo other > .vivarium/new && mv .vivarium/new api.txt && cat api.txt"),
                Step.saying("As planned.").unless("other").running(runtime, "echo plain | tee api.txt"));
        var agent = spawn("Call the API", "");
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

    @Test
    void interruptEndsTheRunningToolAndTheAgentContinues() {
        agents.play(
                Step.saying("I wait.").when("Wait").running(runtime, UNTIL_GO_EXISTS),
                Step.saying("Better.").when("do this instead").running(runtime, "echo instead > instead.txt"));
        var agent = spawn("Wait", "");
        agent.awaitEvent("agent.tool_use");
        agent.send("do this instead", "interrupt");
        agent.awaitEnd("completed");

        assertThat(agent.shell("cat instead.txt")).isEqualTo("instead\n");
        assertThat(agent.types()).contains("agent.interrupted");
    }

    @Test
    void budgetStopsTheRun() {
        agents.play(Step.saying("More.").running(runtime, "true").always());
        var agent = spawn("Spend", "\"budget_usd\":0.01," + ONE_RETRY);
        var failed = agent.awaitEnd("failed");

        assertThat(failed.string("reason")).contains("budget");
        assertThat(failed.object("run").number("cost_usd")).isBetween(0.01, 0.0151);
    }

    @Test
    void theSameFailingCommandIsNudgedWithinTenRepetitionsAndStoppedByPolicy() {
        // OpenHands gives up by itself if the outputs are equal.
        String command = "date +%N; ls /nowhere/at/all";
        agents.play(Step.saying("Again.").running(runtime, command).always());
        var agent = spawn("Repeat", "\"guardian\":\"stop\"");
        var failed = agent.awaitEnd("failed");

        var nudged = agent.events("guardian.nudged").getFirst();
        assertThat(nudged.object("event_data").string("rule")).isEqualTo("repeated_failure");
        assertThat(agent.events("agent.tool_use"))
                .filteredOn(call -> call.integer("seq") < nudged.integer("seq"))
                .hasSizeBetween(5, 10);
        assertThat(agent.types())
                .containsSubsequence(
                        "guardian.nudged",
                        "guardian.intervention",
                        "user.message_delivered",
                        "guardian.outcome",
                        "guardian.paused",
                        "agent.review_requested",
                        "guardian.stopped",
                        "sandbox.run_ended");
        assertThat(failed.object("run").string("reason_code")).isEqualTo("guardian");
        assertThat(failed.string("reason")).startsWith("stopped by the guardian: the call `$ " + command + "` failed");
        assertThat(agents.asked()).contains("The guardian saw that the call");
    }

    @Test
    void userAnswersAReview() {
        var tool = runtime.equals("claude") ? "mcp__vivarium__request_review" : "request_review";
        var question = Map.of("reason", "merge", "description", "ours or theirs?");
        agents.play(
                Step.saying("I ask.").when("Merge").calling(tool, question),
                Step.saying("So it is.").when("approve"));
        var agent = spawn("Merge", "");
        var asked = agent.awaitEvent("agent.review_requested");
        var path = RealAgents.SANDBOXES + "/" + agent.sandbox() + "/reviews/" + asked.string("review_id");
        assertThat(api.post(path, "{\"decision\":\"approve\"}").status()).isEqualTo(200);
        agent.awaitEnd("completed");

        assertThat(agent.awaitEvent("agent.completed").string("summary")).isEqualTo("So it is.");
    }

    @Test
    void conversationResumesInANewSandbox() {
        agents.play(Step.saying("I remember 4711.").when("Think of a number"));
        var first = spawn("Think of a number", "");
        first.awaitEnd("completed");
        api.method("DELETE", RealAgents.SANDBOXES + "/" + first.sandbox());
        agents.play(Step.saying("It was 4711.").when("What was it"));
        var second = spawn("What was it?", "\"resume_from\":\"" + first.sandbox() + "\"");
        var details = second.awaitEnd("completed");

        assertThat(second.sandbox()).isNotEqualTo(first.sandbox());
        assertThat(agents.asked()).contains("I remember 4711.", "What was it?");
        assertThat(details.object("run").number("cost_usd")).isCloseTo(COST_OF_ANSWER, within(1e-6));
    }

    @Test
    void killedWorkerFailsTheRunAndItsConversationCanResume() {
        agents.play(Step.saying("I begin.").when("Begin").running(runtime, "touch begun; " + UNTIL_GO_EXISTS));
        var first = spawn("Begin", "");
        // The worker has published its first message by now. A kill loses events that the worker has not sent.
        first.awaitEvent("agent.tool_use");
        first.awaitEvent("file.created", "begun");
        first.shell("pkill -KILL -f '[w]orker.pyz'");
        assertThat(first.awaitEnd("failed").string("reason")).contains("signal 9");
        assertThat(first.events("agent.message"))
                .extracting(event -> event.object("event_data").string("text"))
                .containsExactly("I begin.");

        agents.play(Step.saying("I go on.").when("Go on"));
        var second = spawn("Go on", "\"resume_from\":\"" + first.sandbox() + "\"");
        second.awaitEnd("completed");

        assertThat(agents.asked()).contains("I begin.", "Go on");
    }

    @Test
    void killOfTheWorkerEndsItsWholeProcessTree() {
        String wait = "touch begun; sleep 98765";
        agents.play(Step.saying("I wait.").when("Wait").running(runtime, wait));
        var agent = spawn("Wait", "");
        agent.awaitEvent("file.created", "begun");
        await().until(() -> agent.shell("pgrep -f '[s]leep 98765'"), pid -> !pid.isEmpty());
        var before = processes(agent);
        agent.shell("pkill -KILL -o -f '[w]orker.pyz'");
        var failed = agent.awaitEnd("failed");

        await().untilAsserted(() -> assertThat(processes(agent)).doesNotContainAnyElementsOf(before));
        assertThat(failed.object("run").string("reason_code")).isEqualTo("signal");
        assertThat(agent.events("agent.failed"))
                .singleElement()
                .satisfies(event -> assertThat(event.object("event_data").string("reason_code"))
                        .isEqualTo("signal"));
    }

    /// Ids of all processes in the sandbox except the guest. They include the shell that lists them.
    private static List<String> processes(RealAgentRun agent) {
        return agent.shell("ls /proc | grep -x '[0-9]*' | grep -vx 1").lines().toList();
    }

    @Test
    void commandsOfToolsHaveTheirExitCode() {
        agents.play(
                Step.saying("First.").when("Try").running(runtime, "echo to-out; echo to-err >&2; (exit 3)"),
                Step.saying("Second.").running(runtime, "echo fine"),
                Step.saying("Third.").running(runtime, "sh -c 'kill -9 $$'"));
        var agent = spawn("Try", "");
        agent.awaitEnd("completed");

        assertThat(agent.events("command.completed"))
                .extracting(event -> event.object("event_data"))
                .filteredOn(completed -> completed.integer("pid") == PID_OF_TOOLS)
                .extracting(completed -> completed.integer("exit_code"))
                .containsExactly(3L, 0L, 137L);
        assertThat(api.get(RealAgents.SANDBOXES + "/" + agent.sandbox() + "/terminal")
                        .text())
                .contains("$ echo to-out; echo to-err >&2; (exit 3)", "$ echo fine", "to-out", "to-err", "fine");
    }

    RealAgentRun spawn(String title, String more) {
        return RealAgentRun.spawn(api, runtime, title, more);
    }
}
