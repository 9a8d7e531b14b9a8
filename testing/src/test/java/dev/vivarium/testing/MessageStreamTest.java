package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Messages as a stream of server-sent events or NDJSON.
@Timeout(120)
class MessageStreamTest {
    private static final String LINES = "application/x-ndjson";
    private static final String EVENTS = "text/event-stream";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();
    private final String messages = "/api/v1/sandboxes/" + session + "/messages";
    private final Api worker = api.with(SERVER.get().workerToken(session, Audience.WORKER));

    @ParameterizedTest
    @ValueSource(strings = {EVENTS, LINES})
    void streamSendsQueuedMessagesInterruptsFirstThenLiveOnes(String mediaType) throws Exception {
        send("one", "user_message");
        send("two", "guidance");
        String stop = send("stop", "interrupt");

        try (var stream = Stream.open(api, messages, mediaType)) {
            JsonFields first = stream.next();
            assertThat(first.string("message_id")).isEqualTo(stop);
            assertThat(first.string("message_type")).isEqualTo("interrupt");
            assertThat(first.string("inject_mode")).isEqualTo("immediate");
            assertThat(stream.contents(2)).containsExactly("one", "two");

            send("live", "user_message");
            assertThat(stream.contents(1)).containsExactly("live");
        }
        assertThat(api.get(messages).text()).isEqualTo("[]");
        await().untilAsserted(() -> assertThat(delivered()).hasSize(4));
    }

    @Test
    void anEventStreamNamesEachMessage() throws Exception {
        String id = send("hello", "user_message");

        try (var stream = Stream.open(worker, messages, EVENTS)) {
            assertThat(stream.line()).isEqualTo("id: " + id);
            assertThat(stream.line()).isEqualTo("event: message");
            assertThat(stream.line()).startsWith("data: {\"message_id\":\"" + id + "\"");
        }
    }

    @Test
    void unacknowledgedMessagesAreRedeliveredOnReconnect() throws Exception {
        String first = send("one", "user_message");
        send("two", "user_message");

        try (var stream = Stream.open(worker, messages + "?ack=", LINES)) {
            assertThat(stream.contents(2)).containsExactly("one", "two");
            assertThat(worker.get(messages + "?ack=" + first).text()).contains("two");
            send("three", "user_message");
            assertThat(stream.contents(1))
                    .as("a stream delivers each message once")
                    .containsExactly("three");
        }
        assertThat(delivered()).hasSize(1);

        try (var stream = Stream.open(worker, messages + "?ack=", EVENTS)) {
            assertThat(stream.contents(2)).containsExactly("two", "three");
        }
        try (var stream = Stream.open(worker, messages + "?ack=" + ids("?ack="), LINES)) {
            send("four", "user_message");
            assertThat(stream.contents(1)).containsExactly("four");
        }
    }

    @Test
    void streamsAndPollsTogetherDeliverEachMessageOnce() throws Exception {
        int total = 60;
        var received = new ConcurrentLinkedQueue<String>();
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (String mediaType : List.of(EVENTS, LINES)) {
                workers.submit(() -> {
                    try (var stream = Stream.open(api, messages, mediaType)) {
                        while (!Thread.interrupted()) {
                            received.add(stream.next().string("content"));
                        }
                    }
                    return null;
                });
            }
            var poller = workers.submit(() -> {
                while (received.size() < total) {
                    Json.requests(api.get(messages + "?wait=1").bytes())
                            .forEach(message -> received.add(message.string("content")));
                }
                return null;
            });
            IntStream.range(0, total).forEach(i -> send("m" + i, "user_message"));
            poller.get();
            workers.shutdownNow();
        }

        assertThat(received).hasSize(total).doesNotHaveDuplicates();
        await().untilAsserted(() -> assertThat(delivered()).hasSize(total).doesNotHaveDuplicates());
    }

    @ParameterizedTest
    @ValueSource(strings = {EVENTS, LINES})
    void endOfSandboxEndsTheStreamWithAReason(String mediaType) throws Exception {
        try (var stream = Stream.open(worker, messages, mediaType)) {
            api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

            assertThat(stream.next().object("problem").string("type")).endsWith("sandbox-ended");
            assertThat(stream.isOver()).isTrue();
        }
    }

    @Test
    void revokedWorkerTokenEndsTheStreamAndMessagesStayQueued() throws Exception {
        try (var stream = Stream.open(worker, messages, LINES)) {
            SERVER.get().workers().forget(new SandboxId(session));
            send("for the next one", "user_message");

            assertThat(stream.next().object("problem").integer("status")).isEqualTo(401);
            assertThat(stream.isOver()).isTrue();
        }
        assertThat(api.get(messages).text()).contains("for the next one");
    }

    @Test
    void otherMediaTypesGetQueuedMessagesAsJson() {
        for (String mediaType : List.of("text/html", "*/*", "text/event-stream;q=0", "nonsense")) {
            send("hello", "user_message");
            var answer = Api.send(api.request(messages).header("Accept", mediaType));
            assertThat(answer.text()).as(mediaType).startsWith("[{").contains("hello");
            assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        }
    }

    @Test
    void invalidStreamRequestsAreRejected() {
        var waiting = Api.send(api.request(messages + "?wait=5").header("Accept", LINES));
        assertThat(waiting.status()).isEqualTo(400);
        assertThat(waiting.json().string("field")).isEqualTo("wait");
        assertThat(Api.send(api.request(messages + "?ack=").header("Accept", LINES))
                        .status())
                .as("only workers may acknowledge messages")
                .isEqualTo(400);
        assertThat(Api.send(api.as("stranger").request(messages).header("Accept", EVENTS))
                        .status())
                .isEqualTo(404);
        assertThat(Api.send(api.with("nothing").request(messages).header("Accept", EVENTS))
                        .status())
                .isEqualTo(401);
    }

    private String send(String content, String kind) {
        return api.post(messages, "{\"content\":\"" + content + "\",\"message_type\":\"" + kind + "\"}")
                .json()
                .string("message_id");
    }

    /// Ids of the offered messages, separated by commas.
    private String ids(String query) {
        return String.join(
                ",",
                Json.requests(worker.get(messages + query).bytes()).stream()
                        .map(message -> message.string("message_id"))
                        .toList());
    }

    private List<String> delivered() {
        String events = "/api/v1/sandboxes/" + session + "/events?limit=1000&type=user.message_delivered";
        return api.get(events).json().objects("events").stream()
                .map(event -> event.object("event_data").string("message_id"))
                .toList();
    }

    /// Client of one message stream.
    private record Stream(BufferedReader reader) implements AutoCloseable {
        static Stream open(Api as, String path, String mediaType) throws Exception {
            var request = as.request(path).header("Accept", mediaType).build();
            var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type")).hasValue(mediaType);
            return new Stream(new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8)));
        }

        String line() throws IOException {
            return reader.readLine();
        }

        /// Returns the next object that is not a keep-alive.
        JsonFields next() throws IOException {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String data = line.startsWith("data: ") ? line.substring("data: ".length()) : line;
                if (data.startsWith("{") && !data.contains("keep_alive")) {
                    return Json.answer(data);
                }
            }
            throw new AssertionError("the stream ended without another message");
        }

        List<String> contents(int count) throws IOException {
            var contents = new ArrayList<String>();
            while (contents.size() < count) {
                contents.add(next().string("content"));
            }
            return contents;
        }

        boolean isOver() throws IOException {
            String line = reader.readLine();
            while (line != null && line.isEmpty()) {
                line = reader.readLine();
            }
            return line == null;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
