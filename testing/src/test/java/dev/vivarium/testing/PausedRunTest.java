package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.process.ProcessProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Runs on a provider that cannot freeze sandboxes: the worker pauses the agent.
class PausedRunTest {
    private static final String FREQUENT_HEARTBEATS = "\"env\":{\"HEARTBEAT_SECONDS\":\"0.1\"}";
    private static final String STEPS = "until [ -e enough ]; do echo step; sleep 0.05; done";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start(PausedRunTest::open, "--rate-limits", "off");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /// Opens a real provider that reports no support for freezing.
    private static Provider open(Path home, GuestPrograms programs) {
        Provider real = ProcessProvider.open(home, programs);
        return (Provider) Proxy.newProxyInstance(
                PausedRunTest.class.getClassLoader(), new Class<?>[] {Provider.class}, (self, method, arguments) -> {
                    if (method.getName().equals("capabilities")) {
                        Capabilities supported = real.capabilities();
                        return new Capabilities(
                                supported.isolation(),
                                supported.diskLimit(),
                                supported.snapshots(),
                                supported.cgroups(),
                                supported.processes(),
                                supported.isolates(),
                                false,
                                supported.limits());
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void runPausedDuringAReviewStaysPausedUntilResumed() {
        String requestReview =
                "echo '{\"type\":\"review\",\"id\":\"r\",\"reason\":\"r\",\"description\":\"d\"}'; read answer; ";
        var run = AgentRun.of(server, "read task; " + requestReview + STEPS, FREQUENT_HEARTBEATS);
        run.awaitStatus("paused");
        var paused = server.api().method("POST", run.path() + "/pause");
        assertThat(paused.status()).isEqualTo(200);
        run.awaitEvent("agent.paused");
        approveReview(run);

        assertThat(run.sandbox().string("status")).isEqualTo("paused");
        assertThat(run.sandbox().string("reason")).isEqualTo("paused by request");
        assertThat(server.api().method("POST", run.path() + "/resume").status()).isEqualTo(200);
        run.awaitEvent("agent.resumed");
        endSteps(run);
        run.awaitStatus("completed");
    }

    private static void approveReview(AgentRun run) {
        String id = server.api()
                .get(run.path() + "/reviews")
                .json()
                .objects("reviews")
                .getFirst()
                .string("review_id");
        server.api().post(run.path() + "/reviews/" + id, "{\"decision\":\"approve\"}");
    }

    /// The worker does not see this request, so the server tells it, without waiting for the next heartbeat.
    @Test
    void reviewThatTheProgramRequestsByHttpStopsTheProgramAtOnce() {
        var program = """
                python3 - <<'END'
                import json, os, time, urllib.request
                open('pid', 'w').write(str(os.getpid()))
                url = f"{os.environ['BACKEND_URL']}/api/v1/sandbox/task/{os.environ['TASK_ID']}/review"
                headers = {'Authorization': 'Bearer ' + os.environ['SANDBOX_TOKEN'], 'Content-Type': 'application/json'}
                body = json.dumps({'reason': 'r', 'description': 'd'}).encode()
                urllib.request.urlopen(urllib.request.Request(url, body, headers)).read()
                while not os.path.exists('enough'):
                    time.sleep(0.05)
                END""";
        var run = AgentRun.of(server, program, "\"env\":{\"HEARTBEAT_SECONDS\":\"1000\"}");
        run.awaitEvent("agent.paused");
        await().untilAsserted(() -> assertThat(server.api()
                        .execute(run.id(), "grep State /proc/$(cat pid)/status")
                        .string("stdout"))
                .contains("T (stopped)"));
        endSteps(run);
        approveReview(run);
        run.awaitStatus("completed");
    }

    @Test
    void watcherPausesAndResumesARun() {
        var run = AgentRun.of(server, STEPS, FREQUENT_HEARTBEATS);
        run.awaitEvent("agent.output");
        String socket = "/ws/sandboxes/" + run.id() + "?event_types=agent.paused";
        try (var watcher =
                ShellClient.open(server.uri(), socket, ShellClient.Reading.ALWAYS, "X-API-Key", server.adminKey())) {
            watcher.send("{\"type\":\"command\",\"command\":\"pause\"}");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("agent.paused");
            assertThat(run.sandbox().string("reason")).isEqualTo("paused by request");
            endSteps(run);
            assertThat(run.sandbox().string("status")).isEqualTo("paused");
            watcher.send("{\"type\":\"command\",\"command\":\"resume\"}");
            run.awaitStatus("completed");
        }
    }

    @Test
    void sandboxRoutePausesAndResumesARun() {
        var run = AgentRun.of(server, STEPS, FREQUENT_HEARTBEATS);
        run.awaitEvent("agent.output");

        var paused = server.api().method("POST", "/sandboxes/" + run.id() + "/pause");
        assertThat(paused.status()).isEqualTo(200);
        run.awaitEvent("agent.paused");
        assertThat(run.sandbox().string("reason")).isEqualTo("paused by request");
        endSteps(run);
        assertThat(run.sandbox().string("status")).isEqualTo("paused");

        var resumed = server.api().method("POST", "/sandboxes/" + run.id() + "/resume");
        assertThat(resumed.status()).isEqualTo(200);
        run.awaitEvent("agent.resumed");
        run.awaitStatus("completed");
    }

    /// Ends the steps of the agent.
    private static void endSteps(AgentRun run) {
        assertThat(server.api().execute(run.id(), "touch enough").integer("exit_code"))
                .isZero();
    }

    @Test
    void aSandboxWithoutAnAgentCannotBePaused() {
        var answer = server.api()
                .method("POST", AgentRun.SANDBOXES + "/" + server.api().session() + "/pause");

        assertThat(answer.status()).isEqualTo(501);
        assertThat(answer.json().string("detail")).contains("cannot freeze");
    }
}
