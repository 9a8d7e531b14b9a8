package dev.vivarium.testing;

import static dev.vivarium.testing.AgentRun.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerApiTest {
    private static final String INSIDE = "/api/v1/sandbox";
    private static final String TASK = INSIDE + "/task/";

    private static TestServer server;
    private static AgentRun run;
    private static AgentRun other;
    private static Api worker;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        run = AgentRun.of(server, "exec sleep 1000", "\"budget_usd\":5");
        other = AgentRun.of(server, "exec sleep 1000");
        worker = run.worker();
        run.awaitEvent("agent.started");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void taskIsReturnedAsSubmitted() {
        var body = AgentRun.body("exec sleep 1000", "")
                .replace(
                        "{\"title\":\"a task\"}",
                        "{\"title\":\"Dark mode\",\"description\":\"Add it\",\"type\":\"feature\",\"priority\":\"low\","
                                + "\"context\":{\"branch\":\"x\"},\"constraints\":{\"time_limit_minutes\":60}}");
        var spawned = server.api().post(AgentRun.SANDBOXES, body).json();
        var task = server.api()
                .get(AgentRun.SANDBOXES + "/" + spawned.string("sandbox_id"))
                .json()
                .object("sandbox")
                .object("run")
                .object("task");

        assertThat(task.string("title")).isEqualTo("Dark mode");
        assertThat(task.string("priority")).isEqualTo("low");
        assertThat(task.object("context").string("branch")).isEqualTo("x");
        assertThat(task.object("constraints").integer("time_limit_minutes")).isEqualTo(60);
        var own = worker.get(INSIDE + "/task").json();
        assertThat(own.string("task_id")).isEqualTo(run.task());
        assertThat(own.optionalString("status")).isEmpty();
    }

    @Test
    void workerReportsReturnTheProtocolResponseAndAppendEvents() {
        var status =
                patch("{\"status\":\"blocked\",\"message\":\"waiting\"}", "").json();
        assertThat(status.flag("success")).isTrue();
        assertThat(status.string("task_id")).isEqualTo(run.task());
        assertThat(status.string("status")).isEqualTo("blocked");
        assertThat(status.time("updated_at")).isNotNull();

        var progress = post(
                        "progress",
                        "{\"event_type\":\"step_completed\",\"message\":\"one\",\"details\":{\"lines\":4},\"progress_percent\":50}")
                .json();
        assertThat(progress.flag("success")).isTrue();
        assertThat(run.events("agent.progress")).contains(progress.string("event_id"), "\"lines\":4");

        var results = post(
                        "results",
                        "{\"status\":\"completed\",\"summary\":\"did it\",\"files_changed\":[{\"path\":\"a\",\"action\":\"created\"}],"
                                + "\"commits\":[{\"sha\":\"abc\"}],\"tests_passed\":true,\"notes\":\"\"}")
                .json();
        assertThat(results.string("next_action")).isEqualTo("create_pr");
        assertThat(post("results", "{\"status\":\"partial\",\"summary\":\"s\",\"files_changed\":[]}")
                        .json()
                        .string("next_action"))
                .isEqualTo("continue");
        assertThat(post("results", "{\"status\":\"failed\",\"summary\":\"s\",\"files_changed\":[]}")
                        .json()
                        .optionalString("next_action"))
                .isEmpty();
        assertThat(run.events("agent.")).contains("agent.status", "agent.results", "did it");
    }

    @Test
    void repeatedReportWithAnIdempotencyKeyIsAppliedOnce() {
        var first = patch("{\"status\":\"in_progress\"}", "key-1");
        patch("{\"status\":\"blocked\"}", "key-2");
        var again = patch("{\"status\":\"in_progress\"}", "key-1");

        assertThat(again.text()).isEqualTo(first.text());
        assertThat(run.run().object("task").string("reported_status")).isEqualTo("blocked");
        var other = patch("{\"status\":\"failed\"}", "key-1");
        assertThat(other.status()).as("the same key for another report").isEqualTo(422);
        assertThat(other.json().string("field")).isEqualTo("Idempotency-Key");
        assertThat(run.run().object("task").string("reported_status")).isEqualTo("blocked");
        assertThat(patch(" { \"status\" : \"in_progress\" } ", "key-1").text())
                .as("the same report with other white space")
                .isEqualTo(first.text());
        var misused = send(worker, "POST", TASK + run.task() + "/progress", "{}", "key-1");
        assertThat(misused.status()).isEqualTo(422);
        assertThat(misused.json().string("field")).isEqualTo("Idempotency-Key");
    }

    @Test
    void heartbeatIsStoredWithoutAnEvent() {
        var answer = worker.post(
                        INSIDE + "/heartbeat",
                        "{\"sandbox_id\":\"" + run.id() + "\",\"task_id\":\"" + run.task()
                                + "\",\"status\":\"active\",\"metrics\":{\"cpu_percent\":4.5}}")
                .json();

        assertThat(answer.flag("success")).isTrue();
        assertThat(answer.optionalStrings("commands").orElseThrow()).isEmpty();
        assertThat(run.run().optionalTime("last_heartbeat")).isPresent();
        assertThat(run.events("sandbox.")).doesNotContain("heartbeat");
    }

    @Test
    void heartbeatWithUnknownStatusIsUnprocessable() {
        String body = "{\"sandbox_id\":\"" + run.id() + "\",\"status\":\"%s\"}";
        for (String known : List.of("active", "running", "busy", "idle", "paused")) {
            assertThat(worker.post(INSIDE + "/heartbeat", body.formatted(known)).status())
                    .isEqualTo(200);
        }
        var answer = worker.post(INSIDE + "/heartbeat", body.formatted("zzz"));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("status");
        assertThat(answer.json().string("rule")).contains("active", "paused");
    }

    @Test
    void workerReportsOnlyOnItsOwnSandboxAndTask() {
        var stranger = other.worker();

        assertThat(send(stranger, "PATCH", TASK + run.task() + "/status", "{\"status\":\"failed\"}", "")
                        .status())
                .isEqualTo(403);
        assertThat(stranger.post(TASK + run.task() + "/progress", "{}").status())
                .isEqualTo(403);
        assertThat(stranger.post(TASK + run.task() + "/results", "{}").status()).isEqualTo(403);
        assertThat(stranger.post(TASK + "nonsense/results", "{}").status()).isEqualTo(403);
        assertThat(stranger.post(run.path() + "/events", "{\"event_type\":\"agent.message\"}")
                        .status())
                .isEqualTo(404);
        assertThat(stranger.get(run.path() + "/messages").status()).isEqualTo(404);
        var forged =
                stranger.post(INSIDE + "/heartbeat", "{\"sandbox_id\":\"" + run.id() + "\",\"status\":\"active\"}");
        assertThat(forged.status()).isEqualTo(403);
    }

    @Test
    void workerTokenOpensOnlyTheWorkerApi() {
        assertThat(Stream.of(
                                "/threads",
                                "/metrics",
                                AgentRun.SANDBOXES,
                                run.path(),
                                run.path() + "/events",
                                "/sandboxes/" + run.id() + "/processes",
                                "/sandboxes/" + run.id() + "/files/x",
                                "/threads/" + run.answer().string("thread_id") + "/sandbox")
                        .map(path -> worker.get(path).status()))
                .allMatch(status -> status == 401 || status == 403 || status == 404);
        assertThat(worker.post(run.path() + "/messages", "{\"content\":\"x\"}").status())
                .isEqualTo(403);
        assertThat(worker.post(AgentRun.SANDBOXES, AgentRun.body("true", "")).status())
                .isIn(401, 403);
    }

    @Test
    void noOtherCredentialOpensTheWorkerApi() {
        var model = server.api().with(run.token(Audience.MODEL));

        assertThat(server.api().get(INSIDE + "/task").status()).isEqualTo(403);
        assertThat(model.get(INSIDE + "/task").status()).isEqualTo(401);
        assertThat(model.get(run.path() + "/messages").status()).isEqualTo(401);
        assertThat(server.api().with("none").get(INSIDE + "/task").status()).isEqualTo(401);
    }

    @Test
    void workerTokenEndsWithItsSandbox() {
        var ended = AgentRun.of(server, "exec sleep 1000");
        var token = ended.worker();
        assertThat(token.get(INSIDE + "/task").status()).isEqualTo(200);

        server.api().method("DELETE", ended.path());

        assertThat(token.get(INSIDE + "/task").status()).isEqualTo(401);
        assertThat(token.post(ended.path() + "/events", "{\"event_type\":\"agent.message\"}")
                        .status())
                .isEqualTo(401);
    }

    @Test
    void workerTokensEndWithTheirRun() {
        var ended = AgentRun.of(server, "read task; echo ready; read message");
        var worker = ended.worker();
        var model = server.api().with(ended.token(Audience.MODEL));
        ended.awaitEvent("agent.output");
        assertThat(worker.get(INSIDE + "/task").status()).isEqualTo(200);
        server.api().post(ended.path() + "/messages", "{\"content\":\"go\"}");
        ended.awaitStatus("completed");

        assertThat(ended.sandbox().string("state")).isEqualTo("running");
        assertThat(worker.get(INSIDE + "/task").status()).isEqualTo(401);
        assertThat(worker.post(ended.path() + "/events", "{\"event_type\":\"agent.x\"}")
                        .status())
                .isEqualTo(401);
        assertThat(model.post("/model/v1/messages", "{}").status()).isEqualTo(401);
    }

    @Test
    void lateWorkerChangesNeitherItsTaskNorTheNextRun() {
        var old = AgentRun.of(server, "true");
        old.awaitStatus("completed");
        String thread = "\"thread_id\":\"" + old.answer().string("thread_id") + "\"";
        var next = AgentRun.of(server, "exec sleep 1000", thread);
        next.awaitEvent("agent.started");
        server.api().post(next.path() + "/messages", "{\"content\":\"for the next one\"}");
        // Issues a new token, because the first one ended with the run.
        var late = old.worker();

        String task = TASK + old.task();
        var status = send(late, "PATCH", task + "/status", "{\"status\":\"in_progress\"}", "");
        assertThat(status.status()).isEqualTo(409);
        assertThat(status.json().string("detail")).contains("is completed");
        assertThat(late.post(task + "/results", "{\"status\":\"failed\",\"summary\":\"s\",\"files_changed\":[]}")
                        .status())
                .isEqualTo(409);
        assertThat(late.post(task + "/review", "{\"reason\":\"r\",\"description\":\"d\"}")
                        .status())
                .isEqualTo(409);
        assertThat(late.post(INSIDE + "/heartbeat", "{\"sandbox_id\":\"" + old.id() + "\",\"status\":\"active\"}")
                        .status())
                .isEqualTo(409);
        assertThat(late.get(old.path() + "/messages").status()).isEqualTo(409);
        late.post(old.path() + "/events", "{\"event_type\":\"agent.failed\",\"event_data\":{\"reason\":\"late\"}}");
        late.post(old.path() + "/events", "{\"event_type\":\"agent.tool_use\"}");

        assertThat(next.run().integer("tool_calls")).isZero();
        assertThat(next.sandbox().string("status")).isEqualTo("running");
        assertThat(next.run().object("task").string("status")).isIn("pending", "running");
    }

    @Test
    void messagesStayQueuedUntilAcknowledged() throws Exception {
        var sandbox = server.api().session();
        String path = AgentRun.SANDBOXES + "/" + sandbox;
        var info = server.sandboxes().require(new SandboxId(sandbox)).info();
        var token = server.workers()
                .issue(new Work(info.id(), info.thread(), info.user(), new TaskId(run.task())), Audience.WORKER);
        var inside = server.api().with(token);
        String id = server.api()
                .post(path + "/messages", "{\"content\":\"hello\"}")
                .json()
                .string("message_id");

        assertThat(inside.get(path + "/messages?ack=").text()).contains(id);
        assertThat(inside.get(path + "/messages?wait=30&ack=").text()).contains(id);
        assertThat(inside.get(path + "/messages?ack=" + id + ",unknown").text()).isEqualTo("[]");
        server.api().post(path + "/messages", "{\"content\":\"again\"}");
        assertThat(inside.get(path + "/messages").text()).contains("again");
        assertThat(inside.get(path + "/messages").text())
                .as("without acknowledgement, delivery removes the message")
                .isEqualTo("[]");
        await().untilAsserted(() -> assertThat(
                        server.api().get(path + "/events?type=user.").text())
                .contains("user.message_delivered", id));
        assertThat(server.api().get(path + "/messages?ack=" + id).status()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "status|{}|status",
                "status|{'status':'dancing'}|status",
                "status|{'status':7}|status",
                "status|{'status':'failed','extra':1}|extra",
                "progress|{'message':'x'}|event_type",
                "progress|{'event_type':'a b','message':'x'}|event_type",
                "progress|{'event_type':'info'}|message",
                "progress|{'event_type':'info','message':'x','details':[]}|details",
                "progress|{'event_type':'info','message':'x','progress_percent':101}|progress_percent",
                "results|{'status':'completed','files_changed':[]}|summary",
                "results|{'status':'great','summary':'s','files_changed':[]}|status",
                "results|{'status':'completed','summary':'s'}|files_changed",
                "results|{'status':'completed','summary':'s','files_changed':[1]}|files_changed",
                "results|{'status':'completed','summary':'s','files_changed':[],'commits':{}}|commits",
                "review|{'description':'x'}|reason",
                "review|{'reason':'x'}|description",
                "review|{'reason':'x','description':'y','blocking':'no'}|blocking",
                "review|{'reason':'x','description':'y','context':{'options':[7]}}|context.options",
            })
    void invalidReportIsUnprocessable(String route, String body, String field) {
        String method = route.equals("status") ? "PATCH" : "POST";
        var answer = send(worker, method, TASK + run.task() + "/" + route, body.replace('\'', '"'), "");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo(field);
    }

    @Test
    void oversizedOrDeeplyNestedReportIsUnprocessable() {
        String tooLong = "\"" + "x".repeat(101 * 1024) + "\"";
        assertThat(post("progress", "{\"event_type\":\"info\",\"message\":\"x\",\"details\":{\"a\":" + tooLong + "}}")
                        .json()
                        .string("field"))
                .isEqualTo("details");
        assertThat(post("progress", "{\"event_type\":\"info\",\"message\":" + tooLong + "}")
                        .json()
                        .string("field"))
                .isEqualTo("message");
        String tooDeep = "{\"a\":".repeat(200) + "1" + "}".repeat(200);
        var answer = post("progress", "{\"event_type\":\"info\",\"message\":\"x\",\"details\":" + tooDeep + "}");
        assertThat(answer.status()).isEqualTo(422);
        var event = worker.post(
                run.path() + "/events", "{\"event_type\":\"agent.message\",\"event_data\":{\"a\":" + tooLong + "}}");
        assertThat(event.status()).isEqualTo(422);
        assertThat(event.json().string("field")).isEqualTo("event_data");
    }

    @Test
    void controlCharactersAreRemoved() {
        post("progress", "{\"event_type\":\"info\",\"message\":\"a\\u0007b\\u0000c\\nd\"}");

        assertThat(run.events("agent.progress")).contains("\"abc\\nd\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "user.message",
                "guardian.intervention",
                "sandbox.terminated",
                "command.output",
                "file.created",
                "agent.model_call"
            })
    void workerCannotAppendEventsOfOtherSources(String type) {
        var answer = worker.post(run.path() + "/events", "{\"event_type\":\"" + type + "\"}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("event_type");
        assertThat(worker.post(run.path() + "/events", "{\"event_type\":\"agent.x\",\"source\":\"user\"}")
                        .json()
                        .string("field"))
                .isEqualTo("source");
    }

    private static Api.Answer patch(String json, String key) {
        return send(worker, "PATCH", TASK + run.task() + "/status", json, key);
    }

    private static Api.Answer post(String route, String json) {
        return send(worker, "POST", TASK + run.task() + "/" + route, json, "");
    }
}
