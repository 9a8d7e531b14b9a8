package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.scripted.Script;
import dev.vivarium.scripted.ScriptedModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Timeouts of the model gateway, for a silent model and a slow agent. Needs root.
@Tag("root")
@Timeout(240)
class ModelTimeoutTest {
    private static final String ASK =
            "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

    private static ScriptedModel model;
    private static TestServer server;
    private static Api api;

    private String sandbox;
    private String curl;

    @BeforeAll
    static void start() {
        model = ScriptedModel.start(Script.parse("{\"steps\": []}"), 0);
        server = TestServer.startIsolated(
                "--disk-mb",
                "64",
                "--model-url",
                model.uri().toString(),
                "--model-key",
                "a-key",
                "--model-timeout-seconds",
                "10");
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
        model.close();
    }

    @BeforeEach
    void spawn() {
        var spawned = api.post(AgentRun.SANDBOXES, AgentRun.body("exec sleep 1000", ""))
                .json();
        sandbox = spawned.string("sandbox_id");
        String token = server.workerToken(sandbox, new TaskId(spawned.string("task_id")), Audience.MODEL);
        curl = "curl -sN -w ' %{http_code}' -H 'Content-Type: application/json' -H 'x-api-key: " + token + "' "
                + server.sandboxes().require(new SandboxId(sandbox)).openControlPort() + "/model/v1/messages ";
    }

    @Test
    void silentModelTimesOut() {
        model.play(Script.parse("{\"steps\":[{\"fault\":{\"kind\":\"hang\"}}]}"));

        assertThat(ask())
                .contains("\"type\":\"error\"", "the model did not answer within 10 s")
                .endsWith(" 504");
        var calls = api.get("/api/v1/sandboxes/" + sandbox + "/events?type=agent.model_call")
                .json()
                .objects("events");
        assertThat(calls).singleElement().satisfies(call -> {
            assertThat(call.object("event_data").integer("status")).isEqualTo(504);
            assertThat(call.object("event_data").number("cost_usd")).isZero();
        });
    }

    @Test
    void slowRequestBodyTimesOutAndLaterCallsSucceed() {
        String trickle = "while printf ' '; do sleep 0.25; done | " + curl + "-X POST -T - -H 'Expect:'";

        for (int i = 0; i < 2; i++) {
            assertThat(run(trickle))
                    .contains("\"type\":\"error\"", "the question did not arrive within 10 s")
                    .endsWith(" 408");
        }
        model.play(Script.parse("{\"steps\":[{\"text\":\"x\"}]}"));
        assertThat(ask()).endsWith(" 200");
    }

    private String ask() {
        return run(curl + "-d '" + ASK + "'");
    }

    private String run(String script) {
        return api.post("/execute", Api.command(sandbox, script, "\"timeout\":60"))
                .json()
                .string("stdout");
    }
}
