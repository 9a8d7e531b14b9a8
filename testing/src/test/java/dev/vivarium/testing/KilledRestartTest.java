package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Server killed with SIGKILL while it restarts workers: between snapshot, fork, begin and start of the next run.
/// `-Dviv.kills=8` is the long version.
@Timeout(300)
class KilledRestartTest {
    private static final String[] SERVER = {
        "--provider",
        "process",
        "--pool-size",
        "0",
        "--rate-limits",
        "off",
        "--heartbeat-seconds",
        "2",
        "--heartbeat-check-seconds",
        "0.2"
    };
    private static final String TASKS = "/api/v1/tasks";
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final int KILLS = Integer.getInteger("viv.kills", 2);

    /// Traces that the steps of a restart leave in the store. The test kills the server at the next one in each
    /// round.
    private static final List<String> TRACES = List.of(
            "disk_origins where forked_from is not null",
            "run_restarts where next_run_id is not null",
            "run_restarts where snapshot_id is not null",
            "snapshots where name like 'restart of %'",
            "sandbox_runs where process is not null",
            "sandboxes where ended_at is not null",
            "run_restarts");

    private Path home;
    private Path starts;
    private ServerProcess server;

    /// A task and the sandbox of its first run.
    private record Work(String task, String sandbox, String thread) {}

    @BeforeEach
    void start() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
        starts = Files.createTempDirectory("viv-starts").toRealPath();
        server = ServerProcess.start(home, SERVER);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
        FileTrees.delete(starts);
    }

    private Api api() {
        return server.api();
    }

    @Test
    void oneRunContinuesEachTaskOnItsFilesAcrossServerKills() throws SQLException {
        for (int kill = 0; kill < KILLS; kill++) {
            List<Work> works = new ArrayList<>();
            IntStream.range(0, 2).forEach(_ -> works.add(spawn()));
            works.add(enqueue());
            works.forEach(this::awaitHeartbeat);
            killDuringRestart(works, TRACES.get(kill % TRACES.size()));
            server = ServerProcess.start(home, SERVER);
            for (Work work : works) {
                requireOneContinuation(work);
            }
            requireNothingLeft(works);
        }
    }

    /// Each start of the program adds the id of its run to a file of the task.
    private String program() {
        return "echo $RUN_ID >> " + starts + "/$TASK_ID; [ -e begun ] && touch again; touch begun; exec sleep 1000";
    }

    private Work spawn() {
        var answer = api().post(AgentRun.SANDBOXES, AgentRun.body(program(), ""));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        JsonFields run = answer.json();
        return new Work(run.string("task_id"), run.string("sandbox_id"), run.string("thread_id"));
    }

    private Work enqueue() {
        var answer = api().post(TASKS, """
                {"title":"queued","runtime":"command","max_retries":10,"command":["sh","-c","%s"]}""".formatted(program()));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        String task = answer.json().string("task_id");
        await().until(() ->
                api().get(TASKS + "/" + task).json().string("status").equals("running"));
        String sandbox = api().get(TASKS + "/" + task).json().string("sandbox_id");
        return new Work(task, sandbox, task + "-1");
    }

    private void awaitHeartbeat(Work work) {
        await().until(() -> starts(work).size() == 1);
        await().until(() ->
                api().get(AgentRun.SANDBOXES + "/" + work.sandbox).text().contains("\"last_heartbeat"));
    }

    /// Returns the runs whose program has started.
    private List<String> starts(Work work) {
        try {
            Path file = starts.resolve(work.task);
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Kills the workers, and the server as soon as one more row has this trace.
    private void killDuringRestart(List<Work> works, String trace) throws SQLException {
        try (var store = DriverManager.getConnection("jdbc:sqlite:" + home.resolve("vivarium.db"))) {
            long before = count(store, trace);
            works.forEach(this::killWorker);
            await().atMost(LONGEST)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> count(store, trace) > before);
        } finally {
            server.close();
        }
    }

    private static long count(Connection store, String trace) throws SQLException {
        try (var statement = store.createStatement();
                var rows = statement.executeQuery("select count(*) from " + trace)) {
            return rows.getLong(1);
        }
    }

    private void killWorker(Work work) {
        String path = "/sandboxes/" + work.sandbox + "/processes";
        String worker = api().get(path).json().objects("processes").getFirst().string("process_id");
        var sent = api().post(path + "/" + worker + "/signal", "{\"name\":\"KILL\"}");
        assertThat(sent.status()).as(sent.text()).isLessThan(300);
    }

    private void requireOneContinuation(Work work) {
        String events = AgentRun.SANDBOXES + "/" + work.sandbox + "/events?type=sandbox.restarted";
        await().atMost(LONGEST)
                .untilAsserted(() ->
                        assertThat(api().get(events).json().objects("events")).hasSize(1));
        JsonFields restarted =
                api().get(events).json().objects("events").getFirst().object("event_data");
        assertThat(restarted.flag("files")).isTrue();
        await().atMost(LONGEST).until(() -> starts(work).size() > 1);
        assertThat(starts(work)).as("runs").hasSize(2).endsWith(restarted.string("next_run_id"));
        assertThat(api().execute(restarted.string("next_sandbox_id"), "ls").string("stdout"))
                .contains("again");
        assertThat(api().get("/api/v1/runs?task_id=" + work.task).json().objects("runs"))
                .filteredOn(run -> List.of("creating", "running").contains(run.string("status")))
                .extracting(run -> run.string("run_id"))
                .containsExactly(restarted.string("next_run_id"));
    }

    /// Each task has one sandbox and no snapshot. Ends the sandboxes.
    private void requireNothingLeft(List<Work> works) {
        for (Work work : works) {
            await().untilAsserted(() -> assertThat(api().get("/threads/" + work.thread + "/snapshots")
                            .json()
                            .objects("snapshots"))
                    .isEmpty());
        }
        List<JsonFields> live = api().get(AgentRun.SANDBOXES).json().objects("sandboxes");
        assertThat(live).extracting(JsonFields::text).hasSize(works.size());
        for (JsonFields sandbox : live) {
            api().method("DELETE", AgentRun.SANDBOXES + "/" + sandbox.string("sandbox_id"));
        }
    }
}
