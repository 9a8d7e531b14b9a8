package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonGenerator;

/// Server killed with SIGKILL while it runs a random graph of tasks. `-Dviv.tasks=1000 -Dviv.kills=20` is the long
/// version, for at most 1000 tasks.
class KilledTasksTest {
    private static final String[] SERVER = {
        "--provider", "process", "--pool-size", "0", "--rate-limits", "off", "--max-running-tasks", "6"
    };
    private static final int TASKS = Integer.getInteger("viv.tasks", 30);
    private static final int KILLS = Integer.getInteger("viv.kills", 3);
    private static final Duration LONGEST = Duration.ofSeconds(60 + 3L * TASKS);

    private final Random random = new Random(1);
    private Path home;
    private Path steps;
    private Path marks;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
        steps = Files.createTempFile("viv-steps", ".txt").toRealPath();
        marks = Files.createTempDirectory("viv-marks").toRealPath().resolve("failed");
    }

    @AfterEach
    void removeHome() throws IOException {
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
        FileTrees.delete(marks.getParent());
        Files.delete(steps);
    }

    @Test
    void everyTaskEndsInTheOrderOfTheDependenciesAcrossServerKills() {
        ServerProcess server = ServerProcess.start(home, SERVER);
        try {
            var added = server.api().post("/api/v1/tasks/graph", graph());
            assertThat(added.status()).as(added.text()).isEqualTo(201);
            List<String> ids = added.json().objects("tasks").stream()
                    .map(task -> task.string("task_id"))
                    .toList();
            for (int kill = 1; kill <= KILLS; kill++) {
                // Each task writes two lines or more.
                int progress = kill * 2 * TASKS / (KILLS + 1) + random.nextInt(3);
                await().atMost(LONGEST).until(() -> lines().size() >= progress);
                server.close();
                server = ServerProcess.start(home, SERVER);
            }
            Api api = server.api();
            await().atMost(LONGEST)
                    .until(() -> api.get("/api/v1/tasks?limit=1000").json().objects("tasks").stream()
                            .allMatch(task -> task.string("status").equals("completed")));
            ids.forEach(id -> requireOneLiveAttempt(api, id));
            ids.forEach(id -> requireResultOfTheLastAttempt(api, id));
            requireOrder(api, ids);
            requireOneProgramAtATime();
        } finally {
            server.close();
        }
    }

    /// Each task depends on up to three earlier tasks.
    private String graph() {
        return new String(
                Json.bytes(out -> {
                    out.writeArrayPropertyStart("tasks");
                    IntStream.range(0, TASKS).forEach(i -> task(out, i));
                    out.writeEndArray();
                }),
                StandardCharsets.UTF_8);
    }

    private void task(JsonGenerator out, int index) {
        String pause = "0." + random.nextInt(3);
        // The first attempt at every fifth task fails.
        String fail = random.nextInt(5) > 0
                ? ""
                : "[ -e %s.$TASK_ID ] || { touch %s.$TASK_ID; echo fail $TASK_ID $RUN_ID >> %s; exit 3; }; "
                        .formatted(marks, marks, steps);
        String script = "echo begin $TASK_ID $RUN_ID >> %s; sleep %s; %secho end $TASK_ID $RUN_ID >> %s"
                .formatted(steps, pause, fail, steps);
        out.writeStartObject();
        out.writeStringProperty("name", "t" + index);
        out.writeStringProperty("title", "task " + index);
        out.writeStringProperty("runtime", "command");
        out.writeNumberProperty("max_retries", 20);
        out.writeArrayPropertyStart("command");
        List.of("sh", "-c", script).forEach(out::writeString);
        out.writeEndArray();
        out.writeArrayPropertyStart("depends_on");
        random.ints(index == 0 ? 0 : random.nextInt(4), 0, Math.max(1, index))
                .distinct()
                .forEach(other -> out.writeString("t" + other));
        out.writeEndArray();
        out.writeEndObject();
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(steps);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void requireOneLiveAttempt(Api api, String id) {
        List<JsonFields> attempts = api.get("/api/v1/tasks/" + id).json().objects("attempts");
        for (int i = 1; i < attempts.size(); i++) {
            assertThat(attempts.get(i).time("started_at"))
                    .isAfterOrEqualTo(attempts.get(i - 1).time("ended_at"));
        }
    }

    /// Only the last attempt completes, and the result of the task is that of its run.
    private static void requireResultOfTheLastAttempt(Api api, String id) {
        JsonFields task = api.get("/api/v1/tasks/" + id).json();
        List<JsonFields> attempts = task.objects("attempts");
        assertThat(attempts.subList(0, attempts.size() - 1))
                .noneMatch(attempt -> attempt.string("status").equals("completed"));
        assertThat(attempts.getLast().string("status")).isEqualTo("completed");
        String run = attempts.getLast().string("run_id");
        assertThat(task.object("result").text())
                .isEqualTo(
                        api.get("/api/v1/runs/" + run).json().object("result").text());
    }

    /// The programs of two attempts at a task never run at the same time.
    private void requireOneProgramAtATime() {
        Map<String, String> running = new HashMap<>();
        for (String line : lines()) {
            String[] words = line.split(" ");
            if (words[0].equals("begin")) {
                assertThat(running.put(words[1], words[2])).as(line).isNull();
            } else {
                assertThat(running.remove(words[1])).as(line).isEqualTo(words[2]);
            }
        }
    }

    /// A program starts once for a run, and after a program of each dependency has ended.
    private void requireOrder(Api api, List<String> ids) {
        List<String> lines = lines();
        var begun = lines.stream().filter(line -> line.startsWith("begin")).toList();
        assertThat(begun).doesNotHaveDuplicates();
        Map<String, Integer> firstBegin = new HashMap<>();
        Map<String, Integer> firstEnd = new HashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String[] words = lines.get(i).split(" ");
            if (!words[0].equals("fail")) {
                (words[0].equals("begin") ? firstBegin : firstEnd).putIfAbsent(words[1], i);
            }
        }
        assertThat(firstEnd.keySet()).containsAll(ids);
        for (String id : ids) {
            var tooEarly = new ArrayList<>(api.get("/api/v1/tasks/" + id)
                    .json()
                    .findStrings("depends_on")
                    .orElseThrow());
            tooEarly.removeIf(other -> firstEnd.get(other) < firstBegin.get(id));
            assertThat(tooEarly)
                    .as(lines.stream().collect(Collectors.joining("\n")))
                    .isEmpty();
        }
    }
}
