package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonFields;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Event streams of a sandbox over WebSocket, against a real server.
class EventSocketTest {
    /// Without metrics events, a log holds only the events of the tests.
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--metrics-every-seconds", "86400");

    private final Api api = SERVER.api();
    private final String sandbox = api.session();

    @Test
    void watcherReceivesStoredThenLiveEventsExactlyOnce() throws Exception {
        IntStream.range(0, 50).forEach(i -> append("before"));
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 4; i++) {
                workers.submit(() -> IntStream.range(0, 50).forEach(n -> append("during")));
            }
            var watchers = new ArrayList<Future<?>>();
            for (int i = 0; i < 5; i++) {
                int after = i * 7;
                watchers.add(workers.submit(() -> {
                    try (var watcher = watch(",\"after_seq\":" + after)) {
                        assertThat(numbers(watcher, 251 - after)).isEqualTo(range(after + 1, 251));
                    }
                }));
            }
            for (Future<?> watcher : watchers) {
                watcher.get();
            }
        }
        try (var watcher = watch("")) {
            assertThat(numbers(watcher, 251)).isEqualTo(range(1, 251));
        }
    }

    @Test
    void connectedMessageCountsTheBufferedEvents() {
        append("a");
        append("b");
        try (var watcher = open("")) {
            watcher.auth(SERVER.get().adminKey(), "\"after_seq\":1");
            JsonFields connected = watcher.await("connected");

            assertThat(connected.string("sandbox_id")).isEqualTo(sandbox);
            assertThat(connected.string("status")).isEqualTo("running");
            assertThat(connected.integer("buffered_events_count")).isEqualTo(2);
        }
    }

    @Test
    void tokenInTheQueryAuthenticatesTheSocket() {
        append("a");
        try (var watcher = open("?after_seq=1&token=" + SERVER.get().token(sandbox, Scope.SHELL_RO))) {
            watcher.await("connected");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("a");
        }
    }

    @Test
    void sequencePastTheEndOfTheLogIsRejected() {
        append("a");
        for (String query :
                List.of("", "?after_seq=99999999&token=" + SERVER.get().token(sandbox, Scope.SHELL_RO))) {
            try (var watcher = open(query)) {
                if (query.isEmpty()) {
                    watcher.auth(SERVER.get().adminKey(), "\"after_seq\":99999999");
                }
                assertThat(watcher.await("error").string("message")).contains("after_seq", "the last event of");
                assertThat(watcher.awaitClose()).isEqualTo(4400);
            }
        }
    }

    @Test
    void unauthenticatedWatcherIsRejected() {
        try (var watcher = open("?token=nonsense")) {
            assertThat(watcher.awaitClose()).isEqualTo(4401);
        }
        try (var watcher = open("")) {
            watcher.send("{\"type\":\"ping\"}");
            assertThat(watcher.awaitClose()).isEqualTo(4401);
        }
        try (var stranger = open("")) {
            stranger.auth(SERVER.api().as("stranger").key(), "");
            assertThat(stranger.awaitClose()).isEqualTo(4404);
        }
    }

    @Test
    void socketDeliversOnlyTheFilteredTypesAndTheFilterCanChange() {
        try (var watcher = watch(",\"event_types\":[\"agent.\"]")) {
            append("noise");
            append("agent.note");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("agent.note");

            watcher.send("{\"type\":\"filter\",\"event_types\":[\"other\"]}");
            watcher.send("{\"type\":\"ping\"}").await("pong");
            append("agent.note");
            append("other");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("other");

            watcher.send("{\"type\":\"subscribe\",\"event_types\":[\"more\"]}").await("filter");
            watcher.send("{\"type\":\"unsubscribe\",\"event_types\":[\"other\"]}");
            assertThat(watcher.await("filter").optionalStrings("event_types").orElseThrow())
                    .containsExactly("more");
            append("other");
            append("more");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("more");
        }
        try (var watcher = open("?event_types=chosen,agent.")) {
            watcher.auth(SERVER.get().adminKey(), "");
            append("chosen");
            assertThat(watcher.await("event").string("event_type")).isEqualTo("agent.note");
        }
    }

    @Test
    void slowWatcherDelaysNoOtherAndLosesNoEvent() {
        String body = "{\"event_type\":\"flood\",\"event_data\":{\"text\":\"" + "x".repeat(50_000) + "\"}}";
        try (var slow = ShellClient.open(
                        SERVER.get().uri(),
                        "/ws/sandboxes/" + sandbox,
                        ShellClient.Reading.NEVER,
                        "X-API-Key",
                        api.key());
                var quick = watch("")) {
            for (int i = 0; i < 300; i++) {
                api.post("/api/v1/sandboxes/" + sandbox + "/events", body);
            }

            assertThat(numbers(quick, 301)).isEqualTo(range(1, 301));
            slow.read(Long.MAX_VALUE);
            assertThat(numbers(slow, 301)).isEqualTo(range(1, 301));
        }
    }

    @Test
    void watcherSendsMessagesAndPausesTheSandbox() {
        append("a");
        try (var watcher =
                watch(",\"event_types\":[\"sandbox.paused\",\"sandbox.resumed\",\"user.\"],\"after_seq\":1")) {
            watcher.send("{\"type\":\"command\",\"command\":\"send_message\",\"payload\":{\"content\":\"hello\"}}");
            var received = List.of(nextExceptHeartbeat(watcher), nextExceptHeartbeat(watcher));
            assertThat(received)
                    .extracting(message -> message.string("type"))
                    .containsExactlyInAnyOrder("queued", "event");
            assertThat(received)
                    .extracting(message -> message.optionalString("event_type").orElse(""))
                    .contains("user.message");
            assertThat(received)
                    .filteredOn(message -> message.string("type").equals("queued"))
                    .extracting(message -> message.flag("listening"))
                    .containsExactly(false);
            assertThat(api.get("/api/v1/sandboxes/" + sandbox + "/messages").text())
                    .contains("hello");

            watcher.send("{\"type\":\"command\",\"command\":\"pause\"}");
            await(watcher, "sandbox.paused");
            watcher.send("{\"type\":\"command\",\"command\":\"resume\"}");
            await(watcher, "sandbox.resumed");
        }
    }

    @Test
    void invalidCommandsAreReportedAndTheSocketStaysOpen() {
        try (var watcher = watch("")) {
            for (String message : List.of(
                    "{\"type\":\"dance\"}",
                    "{\"type\":\"command\",\"command\":\"dance\"}",
                    "{\"type\":\"command\",\"command\":\"send_message\"}",
                    "{\"type\":\"command\",\"command\":\"send_message\",\"payload\":{\"content\":\"\"}}",
                    "nonsense")) {
                assertThat(watcher.send(message).await("error").string("code")).isEqualTo("invalid-request");
            }
            watcher.send("{\"type\":\"ping\"}").await("pong");
        }
    }

    @Test
    void socketClosesAfterTheTerminatedEvent() {
        try (var watcher = watch("")) {
            api.post("/cleanup", "{\"session_id\":\"" + sandbox + "\"}");

            await(watcher, "sandbox.terminated");
            assertThat(watcher.awaitClose()).isEqualTo(1000);
        }
        try (var late = watch("")) {
            await(late, "sandbox.terminated");
            assertThat(late.awaitClose()).isEqualTo(1000);
        }
    }

    private static void await(ShellClient watcher, String type) {
        String seen;
        do {
            seen = watcher.await("event").string("event_type");
        } while (!seen.equals(type));
    }

    /// Returns the next message that is not a heartbeat.
    private static JsonFields nextExceptHeartbeat(ShellClient watcher) {
        JsonFields message;
        do {
            message = watcher.next();
        } while (message.string("type").equals("heartbeat"));
        return message;
    }

    private ShellClient watch(String more) {
        var watcher = open("");
        watcher.auth(SERVER.get().adminKey(), more.isEmpty() ? "" : more.substring(1));
        watcher.await("connected");
        return watcher;
    }

    private ShellClient open(String query) {
        return ShellClient.open(SERVER.get().uri(), "/ws/sandboxes/" + sandbox + query, ShellClient.Reading.ALWAYS);
    }

    private void append(String type) {
        api.post("/api/v1/sandboxes/" + sandbox + "/events", "{\"event_type\":\"" + type + "\"}");
    }

    private static List<Long> numbers(ShellClient watcher, int count) {
        var numbers = new ArrayList<Long>();
        while (numbers.size() < count) {
            numbers.add(watcher.await("event").integer("seq"));
        }
        return numbers;
    }

    private static List<Long> range(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }
}
