package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TaskId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/// Tasks that inherit files and race, and workflows that are stuck, with real workers in sandboxes without isolation.
@Timeout(180)
class TaskStartsTest {
    private static final String TASKS = "/api/v1/tasks";

    @RegisterExtension
    private static final SharedServer SERVER =
            SharedServer.with("--pool-size", "0", "--diagnostic-interval-seconds", "0.2");

    @TempDir
    private Path shared;

    private static Api api() {
        return SERVER.api();
    }

    private static String add(String script, String more) {
        return addPlain(TaskBody.of(script, more));
    }

    private static String addPlain(String body) {
        var answer = api().post(TASKS, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("task_id");
    }

    private static JsonFields get(String id) {
        return api().get(TASKS + "/" + id).json();
    }

    private static void awaitStatus(String id, String status) {
        await().untilAsserted(() ->
                assertThat(get(id).string("status")).as(get(id).text()).isEqualTo(status));
    }

    private static String heir(String from, String... others) {
        String all = String.join("\",\"", from, String.join("\",\"", others));
        return "\"depends_on\":[\"" + (others.length == 0 ? from : all) + "\"],\"inherit\":{\"from\":\"" + from
                + "\",\"files\":true}";
    }

    private static List<JsonFields> snapshots(String task) {
        return api().get("/threads/" + task + "-1/snapshots").json().objects("snapshots");
    }

    private static void endSandbox(String task) {
        String sandbox = get(task).string("sandbox_id");
        assertThat(api().method("DELETE", "/api/v1/sandboxes/" + sandbox).status())
                .isBetween(200, 204);
    }

    @Test
    void aTaskStartsOnAForkOfTheDiskOfItsPredecessorEvenIfItsSandboxHasEnded() {
        String first = add("echo hello > made.txt", "");
        String gate = addPlain("{\"title\":\"gate\",\"agent_type\":\"" + first + "\"}");
        String second = add("grep hello made.txt && echo changed > made.txt", heir(first, gate));
        await().until(() -> !snapshots(first).isEmpty());
        endSandbox(first);
        api().post(TASKS + "/claim", "{\"worker\":\"w\",\"agent_type\":\"" + first + "\"}");
        api().post(TASKS + "/" + gate + "/complete", "{\"attempt\":1}");

        awaitStatus(second, "completed");
        await().until(() -> snapshots(first).isEmpty());
        assertThat(get(second).object("inherit").string("from")).isEqualTo(first);
        assertThat(api().get("/admin/audit?limit=100").text()).contains("disk of task " + first);
    }

    @Test
    void aTaskWhoseInheritedDiskIsGoneFailsWithTheReason() {
        String first = add("true", "");
        awaitStatus(first, "completed");
        endSandbox(first);
        String second = add("true", heir(first));

        awaitStatus(second, "failed");
        JsonFields attempt = get(second).objects("attempts").getFirst();
        assertThat(attempt.string("error_code")).isEqualTo("task-disk-gone");
        assertThat(attempt.string("error_message")).contains(first, "is gone", "add that task again");
        assertThat(get(second).objects("attempts")).hasSize(1);
    }

    /// Each attempt takes the next number.
    private String racer(String then) {
        return "for i in 1 2 3; do mkdir %s/$i 2> /dev/null && break; done; echo $i > lane; %s".formatted(shared, then);
    }

    @Test
    void theFirstAttemptThatPassesItsCheckWinsTheRace() throws IOException {
        String first = add("echo hello > made.txt", "");
        String id = add(
                racer("until [ -e " + shared + "/go$i ]; do sleep 0.05; done"),
                heir(first) + ",\"attempts\":3,\"check\":[\"grep\",\"-e\",\"2\",\"-e\",\"hello\",\"lane\"]");
        await().until(() -> Files.exists(shared.resolve("3")));
        Files.createFile(shared.resolve("go1"));
        await().until(() -> get(id).objects("attempts").stream()
                .anyMatch(attempt -> attempt.string("status").equals("failed")));
        requireNoResultOfALoser(id);
        Files.createFile(shared.resolve("go2"));

        awaitStatus(id, "completed");
        await().untilAsserted(() -> assertThat(get(id).objects("attempts"))
                .extracting(attempt -> attempt.string("status"))
                .containsExactlyInAnyOrder("failed", "completed", "cancelled"));
        JsonFields task = get(id);
        JsonFields winner = task.objects("attempts").stream()
                .filter(attempt -> attempt.string("status").equals("completed"))
                .findFirst()
                .orElseThrow();
        assertThat(task.string("sandbox_id")).isEqualTo(winner.string("sandbox_id"));
        assertThat(task.object("result").string("status")).isEqualTo("completed");
        String file = api().get("/sandboxes/" + winner.string("sandbox_id") + "/files/made.txt")
                .text();
        assertThat(file).contains("hello");
    }

    /// An attempt stores its result with its run. Only the result of the winner becomes that of the task.
    private static void requireNoResultOfALoser(String id) {
        JsonFields running = get(id).objects("attempts").stream()
                .filter(attempt -> attempt.string("status").equals("running"))
                .findFirst()
                .orElseThrow();
        var worker =
                api().with(SERVER.get().workerToken(running.string("sandbox_id"), new TaskId(id), Audience.WORKER));
        var sent = worker.post(
                "/api/v1/sandbox/task/" + id + "/results",
                "{\"status\":\"completed\",\"summary\":\"mine\",\"files_changed\":[]}");
        assertThat(sent.status()).as(sent.text()).isEqualTo(200);
        assertThat(get(id).optionalObject("result")).isEmpty();
    }

    @Test
    void aRaceThatNoAttemptWinsFailsWithTheResultsOfItsChecks() {
        String id = add("true", "\"attempts\":2,\"check\":[\"sh\",\"-c\",\"echo two tests failed; exit 3\"]");

        awaitStatus(id, "failed");
        assertThat(get(id).string("message"))
                .contains(
                        "attempt 1: the check exited with 3: two tests failed",
                        "attempt 2: the check exited with 3: two tests failed");
        assertThat(get(id).objects("attempts"))
                .extracting(attempt -> attempt.string("error_code"))
                .containsExactly("check_failed", "check_failed");
    }

    @Test
    void invalidStartsAreRefused() {
        String first = addPlain("{\"title\":\"for a worker\"}");
        for (String more : List.of(
                "\"attempts\":1,\"check\":[\"true\"]",
                "\"attempts\":9,\"check\":[\"true\"]",
                "\"attempts\":2",
                "\"attempts\":2,\"check\":[]",
                "\"check\":[\"true\"]",
                "\"inherit\":{\"from\":\"nobody\",\"files\":true}",
                "\"inherit\":{\"files\":true}",
                "\"inherit\":{\"from\":\"" + first + "\",\"files\":true}",
                "\"inherit\":{\"from\":\"" + first + "\"},\"depends_on\":[\"" + first + "\"]",
                "\"inherit\":{\"from\":\"" + first + "\",\"disk\":true}",
                heir(first))) {
            var answer = api().post(TASKS, TaskBody.of("true", more));
            assertThat(answer.status()).as(more + answer.text()).isEqualTo(422);
        }
        assertThat(api().post(TASKS, "{\"title\":\"a\",\"attempts\":2,\"check\":[\"true\"]}")
                        .json()
                        .string("field"))
                .isEqualTo("runtime");
    }

    @Test
    void aStuckWorkflowIsReported() {
        var user = api().as("task-stuck");
        String first = user.post(TASKS, TaskBody.of("exit 3", "")).json().string("task_id");
        user.post(TASKS, TaskBody.of("true", "\"depends_on\":[\"" + first + "\"]"));

        await().untilAsserted(() -> assertThat(
                        user.get(TASKS + "/events").json().objects("events"))
                .filteredOn(event -> event.string("event_type").equals("workflow.stuck"))
                .singleElement()
                .satisfies(event ->
                        assertThat(event.object("event_data").string("reason")).contains(first, "failed")));
    }
}
