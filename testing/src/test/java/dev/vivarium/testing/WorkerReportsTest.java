package dev.vivarium.testing;

import static dev.vivarium.testing.AgentRun.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Validation and normalization of worker reports.
class WorkerReportsTest {
    private static final String DONE = "{\"status\":\"completed\",\"summary\":\"s\",\"files_changed\":[]}";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private static AgentRun run;
    private static Api worker;

    @BeforeAll
    static void start() {
        run = AgentRun.of(SERVER.get(), "exec sleep 1000");
        worker = run.worker();
        run.awaitEvent("agent.started");
    }

    @Test
    void workerMetricsAreShownWithTheRun() {
        var other = AgentRun.of(SERVER.get(), "exec sleep 1000", "\"env\":{\"HEARTBEAT_SECONDS\":\"1000\"}");
        // Waits for the worker's first heartbeat. The next heartbeat follows after 1000 seconds.
        await().until(() -> other.run().optionalTime("last_heartbeat").isPresent());
        var answer = other.worker()
                .post("/api/v1/sandbox/heartbeat", heartbeat(other, "{\"cpu_percent\":4.5,\"memory_mb\":512}"));

        assertThat(answer.status()).isEqualTo(200);
        var metrics = other.run().object("metrics");
        assertThat(metrics.number("cpu_percent")).isEqualTo(4.5);
        assertThat(metrics.integer("memory_mb")).isEqualTo(512);
        var tooLong = other.worker()
                .post("/api/v1/sandbox/heartbeat", heartbeat(other, "{\"a\":\"" + "x".repeat(5000) + "\"}"));
        assertThat(tooLong.status()).isEqualTo(422);
        assertThat(tooLong.json().string("field")).isEqualTo("metrics");
        var outOfRange = other.worker().post("/api/v1/sandbox/heartbeat", heartbeat(other, "{\"load\":1e999}"));
        assertThat(outOfRange.status()).isEqualTo(422);
        assertThat(outOfRange.json().string("field")).isEqualTo("metrics.load");
    }

    private static String heartbeat(AgentRun run, String metrics) {
        return "{\"sandbox_id\":\"" + run.id() + "\",\"status\":\"active\",\"metrics\":" + metrics + "}";
    }

    @Test
    void resultsWithAnOpenReviewAskTheWorkerToAwaitIt() {
        var reviewing = AgentRun.of(SERVER.get(), "exec sleep 1000");
        reviewing.awaitEvent("agent.started");
        String id = post(reviewing, "review", "{\"reason\":\"r\",\"description\":\"d\",\"blocking\":false}")
                .json()
                .string("review_id");

        assertThat(post(reviewing, "results", DONE).json().string("next_action"))
                .isEqualTo("await_review");
        assertThat(post(reviewing, "results", DONE.replace("completed", "failed"))
                        .json()
                        .optionalString("next_action"))
                .isEmpty();
        SERVER.api().post(reviewing.path() + "/reviews/" + id, "{\"decision\":\"approve\"}");
        assertThat(post(reviewing, "results", DONE).json().optionalString("next_action"))
                .isEmpty();
    }

    @Test
    void oversizedDetailsAreNamedInTheError() {
        String details = "{\"a\":\"" + "x".repeat(99 * 1024) + "\"}";
        var answer = post(
                run,
                "progress",
                "{\"event_type\":\"info\",\"message\":\"" + "m".repeat(5000) + "\",\"details\":" + details + "}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("details");
    }

    @Test
    void controlCharactersAreRemovedFromResults() {
        post(
                run,
                "results",
                "{\"status\":\"partial\",\"summary\":\"a\\u0007b\\u0000\",\"files_changed\":[{\"path\":\"x\"}],"
                        + "\"tests_passed\":true,\"notes\":\"c\\u001bd\\n\"}");

        var result = run.run().object("task").object("result");
        assertThat(result.string("summary")).isEqualTo("ab");
        assertThat(result.string("notes")).isEqualTo("cd\n");
        assertThat(result.objects("files_changed").getFirst().string("path")).isEqualTo("x");
        assertThat(run.events("agent.results")).contains("\"summary\":\"ab\"").doesNotContain("\\u0007");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "progress|{'event_type':'info','message':'x','details':{'a':['HALF']}}|details.a[0]",
                "progress|{'event_type':'info','message':'x','details':{'HALF':1}}|body",
                "progress|{'event_type':'info','message':'HALF'}|message",
                "results|{'status':'completed','summary':'s','files_changed':[{'path':'HALF'}]}|files_changed[0].path",
                "review|{'reason':'x','description':'y','context':{'a':'HALF'}}|context.a",
                "status|{'status':'blocked','message':'HALF'}|message",
                "progress|{'event_type':'info','message':'x','details':{'a':[1e999]}}|details.a[0]",
                "results|{'status':'completed','summary':'s','files_changed':[{'n':-1e999}]}|files_changed[0].n",
                "review|{'reason':'x','description':'y','context':{'a':1e999}}|context.a",
            })
    void invalidValueIsRejectedWithItsJsonPath(String route, String body, String field) {
        var answer = post(run, route, withLoneSurrogate(body));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo(field);
    }

    @Test
    void loneSurrogateInAnEventIsRejected() {
        String events = run.path() + "/events";
        String event = withLoneSurrogate("{'event_type':'agent.x','event_data':{'a':{'b':'HALF'}}}");

        for (Api api : new Api[] {worker, SERVER.api()}) {
            var answer = api.post(events, event);
            assertThat(answer.status()).as(answer.text()).isEqualTo(422);
            assertThat(answer.json().string("field")).isEqualTo("event_data.a.b");
            var several = api.post(events, "[{\"event_type\":\"agent.x\"}," + event + "]");
            assertThat(several.json().string("field")).isEqualTo("[1].event_data.a.b");
        }
        var spawned = SERVER.api()
                .post(
                        AgentRun.SANDBOXES,
                        AgentRun.body("true", "")
                                .replace("\"title\":\"a task\"", "\"title\":\"t\",\"context\":{\"a\":\"\\udc00\"}"));
        assertThat(spawned.status()).as(spawned.text()).isEqualTo(422);
        assertThat(spawned.json().string("field")).isEqualTo("task.context.a");
    }

    private static String withLoneSurrogate(String body) {
        return body.replace('\'', '"').replace("HALF", "\\ud800");
    }

    private static Api.Answer post(AgentRun run, String route, String json) {
        String method = route.equals("status") ? "PATCH" : "POST";
        return send(run.worker(), method, "/api/v1/sandbox/task/" + run.task() + "/" + route, json, "");
    }
}
