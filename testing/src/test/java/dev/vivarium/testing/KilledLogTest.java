package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Producers, senders and receivers while the server is killed with SIGKILL: no acknowledged event or message is lost.
/// `make bench` repeats this a hundred times with more clients. Needs root.
@Tag("root")
class KilledLogTest {
    private static final int KILLS = 5;
    private static final int PRODUCERS = 4;
    private static final int EVENTS_PER_KILL = 50;

    private final Map<String, Long> appended = new ConcurrentHashMap<>();
    private final Set<String> sent = ConcurrentHashMap.newKeySet();
    private final Set<String> received = ConcurrentHashMap.newKeySet();
    private volatile Api api;
    private volatile boolean running = true;
    private Path home;
    private String session = "";

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
    }

    @AfterEach
    void cleanUp() throws IOException {
        ServerProcess.purge(home);
        assertThat(HostTraces.of(new SandboxId(session), home)).isEmpty();
        FileTrees.delete(home);
    }

    @Test
    void acknowledgedEventsSurviveServerKills() {
        ServerProcess server = start();
        session = api.session();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < PRODUCERS; i++) {
                String name = "p" + i;
                callers.submit(() -> produce(name));
            }
            callers.submit(this::sendMessages);
            callers.submit(this::receiveMessages);
            for (int kill = 0; kill < KILLS; kill++) {
                int before = appended.size();
                await().until(() -> appended.size() > before + EVENTS_PER_KILL);
                server.close();
                server = start();
            }
            running = false;
        }
        try {
            // The server returns the messages in batches.
            await().untilAsserted(() -> {
                take(api);
                assertThat(received).containsAll(sent);
            });
            assertLogHasAll();
        } finally {
            server.close();
        }
    }

    private void assertLogHasAll() {
        List<JsonFields> log = readAll();
        assertThat(log)
                .extracting(event -> event.integer("seq"))
                .isEqualTo(LongStream.rangeClosed(1, log.size()).boxed().toList());
        assertThat(log).extracting(event -> event.string("id")).doesNotHaveDuplicates();
        Map<String, Long> kept = new ConcurrentHashMap<>();
        log.forEach(event -> kept.put(event.string("id"), event.integer("seq")));
        assertThat(kept).containsAllEntriesOf(appended);
    }

    private ServerProcess start() {
        var server = ServerProcess.start(home, "--pool-size", "0", "--disk-mb", "64");
        api = server.api();
        return server;
    }

    private void produce(String name) {
        for (int n = 0; running; n++) {
            String id = name + "-" + n;
            String body = "{\"event_type\":\"step\",\"event_id\":\"" + id + "\"}";
            retry(to -> {
                var answer = to.post("/api/v1/sandboxes/" + session + "/events", body);
                assertThat(answer.status()).isLessThan(300);
                appended.put(id, answer.json().integer("seq"));
            });
        }
    }

    private void sendMessages() {
        for (int n = 0; running; n++) {
            String body = "{\"content\":\"message " + n + "\"}";
            retry(to -> {
                var answer = to.post("/api/v1/sandboxes/" + session + "/messages", body);
                assertThat(answer.status()).isEqualTo(202);
                sent.add(answer.json().string("message_id"));
            });
        }
    }

    private void receiveMessages() {
        while (running) {
            retry(this::take);
        }
    }

    private void take(Api from) {
        var answer = from.get("/api/v1/sandboxes/" + session + "/messages?wait=1");
        assertThat(answer.status()).isEqualTo(200);
        for (JsonFields message : Json.answer("{\"all\":" + answer.text() + "}").objects("all")) {
            received.add(message.string("message_id"));
        }
    }

    /// Repeats a call that the killed server did not answer, with the next server.
    private void retry(Consumer<Api> call) {
        await().atMost(Duration.ofMinutes(3))
                .pollInSameThread()
                .ignoreExceptions()
                .until(() -> {
                    try {
                        call.accept(api);
                        return true;
                    } catch (AssertionError notYet) {
                        return false;
                    }
                });
    }

    private List<JsonFields> readAll() {
        var all = new ArrayList<JsonFields>();
        List<JsonFields> page;
        do {
            long after = all.isEmpty() ? 0 : all.getLast().integer("seq");
            page = api.get("/api/v1/sandboxes/" + session + "/events?limit=1000&after_seq=" + after)
                    .json()
                    .objects("events");
            all.addAll(page);
        } while (!page.isEmpty());
        return all;
    }
}
