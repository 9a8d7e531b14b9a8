package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Tasks that inherit files and race in isolated sandboxes. Needs root.
@Tag("root")
@Timeout(240)
class IsolatedTaskStartsTest {
    private static final String TASKS = "/api/v1/tasks";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--rate-limits", "off", "--disk-mb", "32", "--memory-mb", "128");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /// Adds a task that runs a shell script. `more` holds more fields of the request.
    private static String add(String script, String more) {
        var answer = server.api().post(TASKS, TaskBody.of(script, more));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("task_id");
    }

    private static String heir(String from) {
        return "\"depends_on\":[\"%s\"],\"inherit\":{\"from\":\"%s\",\"files\":true}".formatted(from, from);
    }

    private static JsonFields get(String id) {
        return server.api().get(TASKS + "/" + id).json();
    }

    private static void awaitStatus(String id, String status) {
        await().untilAsserted(() ->
                assertThat(get(id).string("status")).as(get(id).text()).isEqualTo(status));
    }

    private static String shell(String sandbox, String command) {
        return server.api().execute(sandbox, command).string("stdout");
    }

    private static void awaitNoSnapshots(String task) {
        await().until(() -> server.api()
                .get("/threads/" + task + "-1/snapshots")
                .json()
                .objects("snapshots")
                .isEmpty());
    }

    @Test
    void aTaskStartsOnAForkOfTheDiskOfItsPredecessor() {
        String first = add("echo hello > made.txt; chmod 600 made.txt", "");
        String second = add("grep hello made.txt && echo changed > made.txt", heir(first));

        awaitStatus(second, "completed");
        assertThat(shell(get(second).string("sandbox_id"), "cat made.txt")).isEqualTo("changed\n");
        assertThat(shell(get(first).string("sandbox_id"), "cat made.txt")).isEqualTo("hello\n");
        awaitNoSnapshots(first);
    }

    @Test
    void theFirstAttemptThatPassesItsCheckWinsTheRace() {
        String first = add("echo hello > made.txt", "");
        String race = add(
                "until [ -e go ]; do sleep 0.05; done",
                heir(first) + ",\"attempts\":3,\"check\":[\"grep\",\"good\",\"made.txt\"]");
        await().until(() -> get(race).objects("attempts").stream()
                        .filter(attempt -> attempt.string("status").equals("running"))
                        .count()
                == 3);
        List<String> lanes = get(race).objects("attempts").stream()
                .map(attempt -> attempt.string("sandbox_id"))
                .toList();
        lanes.forEach(lane -> assertThat(shell(lane, "cat made.txt")).isEqualTo("hello\n"));
        shell(lanes.get(0), "echo bad > made.txt; touch go");
        await().until(() -> get(race).text().contains("\"check_failed\""));
        shell(lanes.get(1), "echo good > made.txt; touch go");

        awaitStatus(race, "completed");
        await().untilAsserted(() -> assertThat(get(race).objects("attempts"))
                .extracting(attempt -> attempt.string("status"))
                .containsExactly("failed", "completed", "cancelled"));
        assertThat(get(race).string("sandbox_id")).isEqualTo(lanes.get(1));
        awaitNoSnapshots(first);
    }
}
