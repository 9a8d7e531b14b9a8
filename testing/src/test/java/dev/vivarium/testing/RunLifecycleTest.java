package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.SandboxId;
import org.junit.jupiter.api.Test;

/// Lifecycle of runs: server restarts, budgets and killed workers.
class RunLifecycleTest {
    /// Waits for a message and prints it.
    private static final String LISTENER = "read task; echo ready; read message; echo \"heard $message\"";

    @Test
    void runSurvivesAServerRestart() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, LISTENER);
            run.awaitEvent("agent.output");
            server.restart();

            server.api().post(run.path() + "/messages", "{\"content\":\"use the other API\"}");
            run.awaitStatus("completed");
            assertThat(run.events("agent.output")).contains("use the other API");
            assertThat(run.events("agent.")).contains("agent.message_delivered");
            assertThat(run.events("user.")).contains("user.message_delivered");
        }
    }

    @Test
    void runThatEndsDuringARestartIsRecorded() {
        try (var server = TestServer.start()) {
            var done = AgentRun.of(server, "sleep 1; exit 9", "\"env\":{\"DRAIN_SECONDS\":\"1\"}");
            done.awaitEvent("agent.started");
            server.restart();

            done.awaitStatus("failed");
            assertThat(done.run().object("task").string("status")).isEqualTo("failed");
        }
    }

    @Test
    void spentBudgetStopsTheRun() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(
                    server,
                    "echo '{\"type\":\"usage\",\"input_tokens\":1000,\"output_tokens\":10,\"cost_usd\":0.75}'; exec sleep 1000",
                    "\"budget_usd\":0.5");

            run.awaitStatus("failed");
            assertThat(run.sandbox().string("reason")).isEqualTo("budget: spent $0.75 of $0.50");
            assertThat(run.run().string("reason_code")).isEqualTo("budget");
            assertThat(run.run().number("cost_usd")).isEqualTo(0.75);
            assertThat(run.run().number("budget_usd")).isEqualTo(0.5);
            assertThat(run.run().integer("tokens")).isEqualTo(1010);
            run.awaitEvent("sandbox.run_ended");
            assertThat(run.events("sandbox.run_ended")).contains("\"reason_code\":\"budget\"", "\"cost_usd\":0.75");
        }
    }

    @Test
    void agentThatIgnoresSignalsIsKilled() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(
                    server,
                    "trap '' TERM INT; echo '{\"type\":\"usage\",\"cost_usd\":2}'; while true; do sleep 1; done",
                    "\"budget_usd\":1");

            run.awaitStatus("failed");
            assertThat(run.run().string("reason_code")).isEqualTo("budget");
        }
    }

    @Test
    void toolCallsAreCounted() {
        try (var server = TestServer.start()) {
            String call = "{\"type\":\"event\",\"event_type\":\"agent.tool_use\",\"data\":{\"tool_name\":\"bash\"}}";
            var run = AgentRun.of(server, "echo '" + call + "'; echo '" + call + "'");

            run.awaitStatus("completed");
            assertThat(run.run().integer("tool_calls")).isEqualTo(2);
        }
    }

    @Test
    void killedWorkerFailsTheRun() {
        try (var server = TestServer.start("--max-restarts", "0")) {
            var run = AgentRun.of(server, "exec sleep 1000");
            run.awaitEvent("agent.started");
            var sandbox = server.sandboxes().require(new SandboxId(run.id()));
            var worker = sandbox.processes().list().getFirst();
            server.api()
                    .post("/sandboxes/" + run.id() + "/processes/" + worker.id() + "/signal", "{\"name\":\"KILL\"}");

            run.awaitStatus("failed");
            assertThat(run.sandbox().string("reason")).contains("signal 9");
        }
    }
}
