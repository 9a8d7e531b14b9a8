package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ServerStopTest {
    @Test
    void shutdownFinishesRunningRequestsAndRejectsNewOnes() throws Exception {
        try (var server = TestServer.start();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Api api = server.api();
            String session = api.session();
            var running = workers.submit(
                    () -> api.execute(session, "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo done"));
            await().until(() -> api.execute(session, "ls").string("stdout").contains("begun"));
            var files = server.sandboxes().list().getFirst();

            var stop = workers.submit(() -> server.stop(Duration.ofSeconds(60)));

            await().until(() -> api.get("/health").status() == 503);
            var rejected = api.post("/execute", Api.command(session, "true"));
            assertThat(rejected.status()).isEqualTo(503);
            assertThat(rejected.headers().firstValue("Retry-After")).isPresent();
            assertThat(api.get("/health").json().object("failing").string("server"))
                    .isEqualTo("is stopping");
            java.nio.file.Files.createFile(workspace(server, files.id().value()).resolve("go"));
            assertThat(running.get().string("stdout")).isEqualTo("done\n");
            stop.get();
        }
    }

    @Test
    void streamsEndWhenTheServerShutsDown() throws Exception {
        try (var server = TestServer.start();
                var client = HttpClient.newHttpClient();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Api api = server.api();
            String sandbox = "/api/v1/sandboxes/" + api.session();
            var paths = List.of(sandbox + "/events", sandbox + "/messages", "/api/v1/events");
            var started = new CountDownLatch(paths.size());
            var streams = paths.stream()
                    .map(path -> workers.submit(() -> read(client, api, path, started)))
                    .toList();
            started.await();

            // Longer than any timeout of the test.
            var stop = workers.submit(() -> server.stop(Duration.ofHours(1)));

            await().until(stop::isDone);
            for (var stream : streams) {
                assertThat(stream.get()).contains("event: error").contains("shutting-down");
            }
        }
    }

    @Test
    void longPollsEndWhenTheServerShutsDown() throws Exception {
        try (var server = TestServer.start();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Api api = server.api();
            String session = api.session();
            var poll = poll(workers, api, session);

            var stop = workers.submit(() -> server.stop(Duration.ofHours(1)));

            await().until(stop::isDone);
            assertThat(poll.get().text()).isEqualTo("[]");
        }
    }

    @Test
    void longPollsEndWhenTheSandboxEnds() throws Exception {
        try (var server = TestServer.start();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Api api = server.api();
            String session = api.session();
            var poll = poll(workers, api, session);

            api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

            await().until(poll::isDone);
            assertThat(poll.get().text()).isEqualTo("[]");
        }
    }

    /// Starts a long poll whose timeout is longer than any of the test.
    private static Future<Api.Answer> poll(ExecutorService workers, Api api, String session) {
        var poll = workers.submit(() -> api.get("/api/v1/sandboxes/" + session + "/messages?wait=60"));
        // Gives the poll time to start.
        api.execute(session, "sleep 0.2");
        return poll;
    }

    /// Reads a stream to its end.
    private static String read(HttpClient client, Api api, String path, CountDownLatch started) throws Exception {
        var request = api.request(path).header("Accept", "text/event-stream").build();
        var answer = client.send(request, BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        started.countDown();
        return new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void requestThatExceedsTheGracePeriodIsAborted() throws Exception {
        try (var server = TestServer.start();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Api api = server.api();
            String session = api.session();
            var running = workers.submit(
                    () -> api.post("/execute", Api.command(session, "touch begun; sleep 1000", "\"timeout\":1000")));
            await().until(() -> api.execute(session, "ls").string("stdout").contains("begun"));

            server.stop(Duration.ofMillis(50));

            await().until(running::isDone);
            assertThat(running.state()).isEqualTo(Future.State.FAILED);
        }
    }

    private static java.nio.file.Path workspace(TestServer server, String id) {
        return server.home().resolve("disks").resolve(id).resolve("workspace");
    }
}
