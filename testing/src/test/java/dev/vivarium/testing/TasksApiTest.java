package dev.vivarium.testing;

import static dev.vivarium.testing.AgentRun.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TaskId;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Queue of tasks over HTTP, with real workers in sandboxes without isolation.
@Timeout(180)
class TasksApiTest {
    private static final String TASKS = "/api/v1/tasks";
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start("--pool-size", "0");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String fields(String name, String script, String more) {
        String text = new String(
                Json.bytes(out -> {
                    out.writeStringProperty("title", name);
                    out.writeStringProperty("runtime", "command");
                    out.writeArrayPropertyStart("command");
                    List.of("sh", "-c", script).forEach(out::writeString);
                    out.writeEndArray();
                }),
                StandardCharsets.UTF_8);
        return more.isEmpty() ? text : text.substring(0, text.length() - 1) + "," + more + "}";
    }

    private static String add(String script, String more) {
        var answer = server.api().post(TASKS, fields("a task", script, more));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("task_id");
    }

    private static JsonFields get(String id) {
        return server.api().get(TASKS + "/" + id).json();
    }

    private static void awaitStatus(String id, String status) {
        await().untilAsserted(() ->
                assertThat(get(id).string("status")).as(get(id).text()).isEqualTo(status));
    }

    private static Api.Answer post(String id, String action, String body) {
        return server.api().post(TASKS + "/" + id + "/" + action, body);
    }

    @Test
    void aGraphRunsInTheOrderOfItsDependenciesWithTheirResults() {
        var answer = server.api()
                .post(
                        TASKS + "/graph",
                        "{\"tasks\":[" + fields("second", "until [ -e go ]; do sleep 0.05; done", """
                                "name":"b","depends_on":["a"]""") + ","
                                + fields("first", "echo made it", """
                                "name":"a\"""") + "]}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        var added = answer.json().objects("tasks");
        assertThat(added).extracting(task -> task.string("name")).containsExactly("b", "a");
        String second = added.get(0).string("task_id");
        String first = added.get(1).string("task_id");

        awaitStatus(second, "running");
        JsonFields done = get(first);
        assertThat(done.string("status")).isEqualTo("completed");
        JsonFields attempt = done.objects("attempts").getFirst();
        assertThat(attempt.string("status")).isEqualTo("completed");
        assertThat(attempt.string("run_id")).startsWith("run");
        assertThat(done.object("result").string("status")).isEqualTo("completed");

        String sandbox = get(second).string("sandbox_id");
        var worker = server.api().with(server.workerToken(sandbox, new TaskId(second), Audience.WORKER));
        var dependency = worker.get("/api/v1/sandbox/task")
                .json()
                .object("context")
                .objects("dependencies")
                .getFirst();
        assertThat(dependency.string("task_id")).isEqualTo(first);
        assertThat(dependency.object("result").text())
                .isEqualTo(done.object("result").text());
        assertThat(server.api().get(TASKS + "/" + first + "/graph").json().objects("tasks"))
                .hasSize(2);
        assertThat(server.api().get("/admin/audit?limit=100").text()).contains("system:orchestrator");
        post(second, "cancel", "{}");
    }

    @Test
    void aCancelledTaskStopsItsRunAndBlocksItsDependents() {
        String first = add("sleep 1000", "");
        String second = add("true", "\"depends_on\":[\"" + first + "\"]");
        awaitStatus(first, "running");

        assertThat(post(first, "cancel", "").status()).isEqualTo(202);
        assertThat(get(second).string("status")).isEqualTo("blocked");
        assertThat(get(second).string("message")).contains(first);
        await().untilAsserted(() -> assertThat(
                        get(first).objects("attempts").getFirst().string("status"))
                .isEqualTo("cancelled"));
        assertThat(post(first, "cancel", "").status()).isEqualTo(409);

        assertThat(post(first, "retry", "").status()).isEqualTo(202);
        assertThat(get(second).string("status")).isEqualTo("pending");
        assertThat(post(first, "cancel", "{\"dependents\":\"cancel\"}").status())
                .isEqualTo(202);
        assertThat(get(second).string("status")).isEqualTo("cancelled");
    }

    @Test
    void aFailedCommandIsRetriedOnceAndKeepsItsReasons() {
        String id = add("exit 3", "\"max_retries\":5");
        awaitStatus(id, "failed");

        var attempts = get(id).objects("attempts");
        assertThat(attempts).hasSize(2);
        assertThat(attempts)
                .extracting(attempt -> attempt.string("error_class"))
                .containsOnly("unknown");
        assertThat(attempts.getFirst().string("error_message")).isNotBlank();
    }

    @Test
    void aRunOfAnEarlierServerIsFinalised() {
        try (var own = TestServer.start("--pool-size", "0")) {
            var answer = own.api().post(TASKS, fields("a task", "until [ -e go ]; do sleep 0.05; done", ""));
            String id = answer.json().string("task_id");
            String next = own.api()
                    .post(TASKS, fields("next", "true", "\"depends_on\":[\"" + id + "\"]"))
                    .json()
                    .string("task_id");
            await().untilAsserted(() -> assertThat(
                            own.api().get(TASKS + "/" + id).json().string("status"))
                    .isEqualTo("running"));
            own.restart();

            String sandbox = own.api().get(TASKS + "/" + id).json().string("sandbox_id");
            var touch = own.api().put("/sandboxes/" + sandbox + "/files/go", "");
            assertThat(touch.status()).as(touch.text()).isBetween(200, 204);
            await().untilAsserted(() -> assertThat(
                            own.api().get(TASKS + "/" + next).json().string("status"))
                    .isEqualTo("completed"));
            assertThat(own.api().get(TASKS + "/" + id).json().objects("attempts"))
                    .hasSize(1);
        }
    }

    @Test
    void invalidTasksAreRefusedWithTheirPlace() {
        var cycle = server.api()
                .post(
                        TASKS + "/graph",
                        "{\"tasks\":[" + fields("a", "true", "\"name\":\"a\",\"depends_on\":[\"b\"]") + ","
                                + fields("b", "true", "\"name\":\"b\",\"depends_on\":[\"a\"]") + "]}");
        assertThat(cycle.status()).isEqualTo(422);
        assertThat(cycle.json().string("field")).isEqualTo("tasks[0].depends_on");
        assertThat(cycle.json().string("detail")).contains("a → b → a");
        for (String more : List.of(
                "\"priority\":\"urgent\"",
                "\"priority\":7",
                "\"max_retries\":21",
                "\"max_retries\":-1",
                "\"timeout_minutes\":0",
                "\"timeout_minutes\":1e300",
                "\"queue_timeout_minutes\":-5",
                "\"budget_usd\":0",
                "\"depends_on\":[\"nobody\"]",
                "\"depends_on\":[\"tskaaaaaaaaaaaaaaaaaaaa\"]",
                "\"env\":{\"TASK_ID\":\"x\"}",
                "\"surprise\":1")) {
            var answer = server.api().post(TASKS, fields("a", "true", more));
            assertThat(answer.status()).as(more + answer.text()).isEqualTo(422);
        }
        String many = String.join(",", Collections.nCopies(10_000, "{\"title\":\"a\"}"));
        var large = server.api().post(TASKS + "/graph", "{\"tasks\":[" + many + "]}");
        assertThat(large.status()).isEqualTo(422);
        assertThat(large.json().string("detail")).contains("at most 1000; split the graph");
        assertThat(server.api().post(TASKS, "{\"title\":\" \"}").json().string("field"))
                .isEqualTo("title");
        assertThat(server.api().get(TASKS + "/nonsense").status()).isEqualTo(404);
    }

    @Test
    void aUserSeesOnlyOwnTasks() {
        var ann = server.api().as("task-ann");
        var bob = server.api().as("task-bob");
        String anns = ann.post(TASKS, "{\"title\":\"ann's\"}").json().string("task_id");

        assertThat(bob.get(TASKS + "/" + anns).status()).isEqualTo(404);
        assertThat(bob.post(TASKS + "/" + anns + "/cancel", "").status()).isEqualTo(404);
        assertThat(bob.get(TASKS).json().objects("tasks")).isEmpty();
        assertThat(bob.get(TASKS + "/events").json().objects("events")).isEmpty();
        assertThat(bob.get(TASKS + "/events?user_id=task-ann").status()).isEqualTo(403);
        assertThat(bob.post(TASKS + "/claim", "{\"worker\":\"w\"}").status()).isEqualTo(204);
        assertThat(bob.post(TASKS, "{\"title\":\"b\",\"depends_on\":[\"" + anns + "\"]}")
                        .status())
                .isEqualTo(422);
        assertThat(ann.get(TASKS).json().objects("tasks")).hasSize(1);
        assertThat(ann.get(TASKS + "/events").json().objects("events"))
                .extracting(event -> event.string("event_type"))
                .containsExactly("task.pending", "task.ready");
    }

    @Test
    void aWorkerClaimsATaskAndReportsItsResult() {
        var api = server.api().as("task-worker");
        String id = api.post(TASKS, "{\"title\":\"for a worker\",\"agent_type\":\"coder\"}")
                .json()
                .string("task_id");

        assertThat(api.post(TASKS + "/claim", "{\"worker\":\"w\",\"agent_type\":\"tester\"}")
                        .status())
                .isEqualTo(204);
        var claimed = api.post(TASKS + "/claim", "{\"worker\":\"w\",\"agent_type\":\"coder\",\"lease_s\":30}")
                .json();
        assertThat(claimed.string("task_id")).isEqualTo(id);
        assertThat(claimed.string("status")).isEqualTo("running");
        String path = TASKS + "/" + id;
        assertThat(api.post(path + "/heartbeat", "{\"attempt\":2}").status()).isEqualTo(409);
        assertThat(api.post(path + "/heartbeat", "{\"attempt\":1,\"lease_s\":0}")
                        .status())
                .isEqualTo(422);
        assertThat(api.post(path + "/heartbeat", "{\"attempt\":1}").status()).isEqualTo(200);
        var done = api.post(path + "/complete", "{\"attempt\":1,\"result\":{\"x\":1}}");
        assertThat(done.json().string("status")).isEqualTo("completed");
        assertThat(done.json().object("result").text()).isEqualTo("{\"x\":1}");
        assertThat(api.post(path + "/fail", "{\"attempt\":1,\"error_message\":\"no\"}")
                        .status())
                .isEqualTo(409);
    }

    @Test
    void aWaitingTaskIsChangedAndListsArePaged() {
        var api = server.api().as("task-pages");
        for (int i = 0; i < 3; i++) {
            api.post(TASKS, "{\"title\":\"task " + i + "\"}");
        }
        var first = api.get(TASKS + "?limit=2").json();
        assertThat(first.objects("tasks")).hasSize(2);
        var second = api.get(TASKS + "?limit=2&cursor=" + first.string("next_cursor"))
                .json();
        assertThat(second.objects("tasks")).hasSize(1);
        assertThat(second.optionalString("next_cursor")).isEmpty();
        assertThat(api.get(TASKS + "?status=failed").json().objects("tasks")).isEmpty();

        String id = first.objects("tasks").getFirst().string("task_id");
        var changed = send(api, "PATCH", TASKS + "/" + id, "{\"priority\":\"high\",\"title\":\"new\"}", "");
        assertThat(changed.json().string("priority")).isEqualTo("high");
        assertThat(changed.json().string("title")).isEqualTo("new");
        assertThat(send(api, "PATCH", TASKS + "/" + id, "{\"status\":\"completed\"}", "")
                        .status())
                .isEqualTo(422);
    }

    @Test
    void aDirectRunAtATaskOfTheQueueIsRefused() {
        String id = server.api().post(TASKS, "{\"title\":\"queued\"}").json().string("task_id");
        var answer = server.api()
                .post(
                        AgentRun.SANDBOXES,
                        "{\"task_id\":\"" + id
                                + "\",\"user_id\":\"admin\",\"runtime\":\"command\",\"command\":[\"true\"]}");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().string("detail")).contains("retry it with POST /api/v1/tasks/" + id);
    }
}
