package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Server killed with SIGKILL while a worker reports: the state of the run counts every logged event once, although
/// the worker never repeats an event.
class KilledRunEventsTest {
    private static final String[] SERVER = {"--provider", "process", "--pool-size", "0", "--rate-limits", "off"};
    private static final int KILLS = 4;
    private static final int REPORTERS = 4;
    private static final int EVENTS_PER_SERVER = 30;

    private final AtomicLong acknowledged = new AtomicLong();
    private volatile Api worker;
    private volatile boolean running = true;
    private Path home;
    private String path = "";

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
    }

    @AfterEach
    void removeHome() throws IOException {
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
    }

    @Test
    void eventsAreCountedOnceAcrossServerKills() {
        String token = token(spawn());
        ServerProcess server = start(token);
        try (var reporters = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < REPORTERS; i++) {
                reporters.submit(this::report);
            }
            for (int kill = 0; kill < KILLS; kill++) {
                long before = acknowledged.get();
                await().until(() -> acknowledged.get() > before + EVENTS_PER_SERVER);
                server.close();
                server = start(token);
            }
            running = false;
        }
        try {
            Api api = server.api();
            await().untilAsserted(() -> assertThat(toolCalls(api)).isEqualTo(logged(api)));
            assertThat(logged(api)).isGreaterThanOrEqualTo(acknowledged.get());
        } finally {
            server.close();
        }
    }

    /// Starts a run by a server that is killed afterwards.
    private JsonFields spawn() {
        try (var server = ServerProcess.start(home, SERVER)) {
            var answer = server.api().post(AgentRun.SANDBOXES, AgentRun.body("exec sleep 1000", ""));
            assertThat(answer.status()).as(answer.text()).isEqualTo(201);
            path = AgentRun.SANDBOXES + "/" + answer.json().string("sandbox_id");
            await().until(() -> sandbox(server.api()).string("status").equals("running"));
            return answer.json();
        }
    }

    private JsonFields sandbox(Api api) {
        return api.get(path).json().object("sandbox");
    }

    private ServerProcess start(String token) {
        var server = ServerProcess.start(home, SERVER);
        worker = server.api().with(token);
        return server;
    }

    /// A worker token that the test issues while no server runs.
    private String token(JsonFields spawned) {
        try (var db = Db.sqlite(home.resolve("vivarium.db"))) {
            var work = new WorkerGrant.Work(
                    new SandboxId(spawned.string("sandbox_id")),
                    new ThreadId(spawned.string("thread_id")),
                    new UserId("admin"),
                    new TaskId(spawned.string("task_id")));
            return WorkerTokens.open(db, home, InstantSource.system()).issue(work, WorkerGrant.Audience.WORKER);
        }
    }

    /// Sends each event once: an event that a killed server did not acknowledge may be in the log or not.
    private void report() {
        while (running) {
            Api server = worker;
            try {
                var answer = server.post(path + "/events", "{\"event_type\":\"agent.tool_use\"}");
                assertThat(answer.status()).as(answer.text()).isEqualTo(201);
                acknowledged.incrementAndGet();
            } catch (UncheckedIOException killed) {
                await().atMost(Duration.ofMinutes(3)).until(() -> worker != server || !running);
            }
        }
    }

    private long toolCalls(Api api) {
        return sandbox(api).object("run").integer("tool_calls");
    }

    private long logged(Api api) {
        List<JsonFields> all = new ArrayList<>();
        List<JsonFields> page;
        do {
            long after = all.isEmpty() ? 0 : all.getLast().integer("seq");
            page = api.get(path + "/events?limit=1000&type=agent.tool_use&after_seq=" + after)
                    .json()
                    .objects("events");
            all.addAll(page);
        } while (!page.isEmpty());
        return all.size();
    }
}
