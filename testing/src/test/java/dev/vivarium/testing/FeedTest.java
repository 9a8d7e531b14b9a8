package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.testing.ShellClient.Reading;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Feed of the events of all sandboxes over WebSocket and SSE, against a real server.
class FeedTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();

    @Test
    void adminReceivesAllEventsAndUsersTheirOwn() {
        Api ann = admin.as("feed-ann");
        String annsSandbox = session(ann, "feed-ann");
        String other = admin.session();
        try (var all = listen(admin, "");
                var own = listen(ann, "?event_types=feed.*")) {
            append(other, "feed.a", "{}");
            append(annsSandbox, "feed.b", "{}");

            assertThat(next(all, "feed.a").string("sandbox_id")).isEqualTo(other);
            JsonFields seen = next(all, "feed.b");
            assertThat(seen.string("entity_type")).isEqualTo("sandbox");
            assertThat(seen.string("entity_id")).isEqualTo(annsSandbox);
            assertThat(own.await("event").string("event_type")).isEqualTo("feed.b");
        }
    }

    @Test
    void memberReceivesEventsWhileTheirScopeAllowsIt() throws Exception {
        Api owner = admin.as("feed-host");
        String thread = Api.thread();
        String shared = owner.post("/create_session", "{\"user_id\":\"feed-host\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
        String members = "/threads/" + thread + "/members";
        Api guest = admin.as("feed-guest");
        String own = session(guest, "feed-guest");
        var request = guest.request("/api/v1/events?event_types=feed.").build();
        var body = HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofInputStream())
                .body();
        try (var socket = listen(guest, "?event_types=feed.");
                var lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            for (String scopes : List.of("", "shell:ro", "fs:ro", "", "shell")) {
                if (scopes.isEmpty()) {
                    owner.method("DELETE", members + "/feed-guest");
                } else {
                    owner.post(members, "{\"user_id\":\"feed-guest\",\"scopes\":[\"" + scopes + "\"]}");
                }
                append(shared, "feed.shared", "{}");
                append(own, "feed.own", "{}");

                // The server authorizes each event on delivery, so the test reads all events of a step before the next
                // step.
                if (scopes.startsWith("shell")) {
                    assertThat(socket.await("event").string("event_type")).isEqualTo("feed.shared");
                    assertThat(nextEventType(lines)).isEqualTo("feed.shared");
                }
                assertThat(socket.await("event").string("event_type")).isEqualTo("feed.own");
                assertThat(nextEventType(lines)).isEqualTo("feed.own");
            }
        }
    }

    private static String nextEventType(BufferedReader lines) throws IOException {
        String line;
        do {
            line = lines.readLine();
        } while (!line.startsWith("data: ") || !line.contains("seq"));
        return Json.answer(line.substring(6)).string("event_type");
    }

    @Test
    void userReceivesTheEndOfTheirSandbox() {
        Api ben = admin.as("feed-ben");
        String bensSandbox = session(ben, "feed-ben");
        try (var own = listen(ben, "?event_types=sandbox.terminated")) {
            ben.post("/cleanup", "{\"session_id\":\"" + bensSandbox + "\"}");

            assertThat(own.await("event").string("entity_id")).isEqualTo(bensSandbox);
        }
    }

    @Test
    void tokenReceivesOnlyEventsOfItsSandbox() {
        String mine = admin.session();
        String other = admin.session();
        String token = SERVER.get().token(mine, Scope.SHELL_RO);
        // The filter skips `sandbox.started`, which the server may publish only now.
        try (var own = listen(admin.with(token), "?event_types=feed.")) {
            append(other, "feed.other", "{}");
            append(mine, "feed.mine", "{}");

            assertThat(own.await("event").string("event_type")).isEqualTo("feed.mine");
        }
        String withoutScope = SERVER.get().token(mine, Scope.FS_RO);
        try (var rejected = open("?token=" + withoutScope)) {
            assertThat(rejected.awaitClose()).isEqualTo(4403);
        }
    }

    @Test
    void queryFiltersByTypeEntityAndId() {
        String one = admin.session();
        String two = admin.session();
        try (var types = listen(admin, "?event_types=agent.,tool.used");
                var ids = listen(admin, "?entity_types=sandbox&entity_ids=" + two + "&event_types=agent.");
                var tasks = listen(admin, "?entity_types=task&entity_ids=t-1");
                var runs = listen(admin, "?entity_types=run&event_types=agent.,tool.")) {
            append(one, "agent.a", "{\"task_id\":\"t-2\"}");
            append(one, "noise", "{}");
            append(one, "tool.used", "{\"task_id\":\"t-1\",\"text\":\"run_id\"}");
            append(two, "agent.b", "{\"run_id\":\"r-1\"}");

            assertThat(types.await("event").string("event_type")).isEqualTo("agent.a");
            assertThat(types.await("event").string("event_type")).isEqualTo("tool.used");
            assertThat(types.await("event").string("event_type")).isEqualTo("agent.b");
            assertThat(ids.await("event").string("event_type")).isEqualTo("agent.b");
            assertThat(tasks.await("event").string("event_type")).isEqualTo("tool.used");
            assertThat(runs.await("event").string("event_type")).isEqualTo("agent.b");
        }
    }

    @Test
    void aThreadIsFollowedFromOneSandboxToTheNext() {
        String thread = Api.thread();
        try (var own = listen(admin, "?entity_types=thread&entity_ids=" + thread + "&event_types=sandbox.started")) {
            for (int i = 0; i < 2; i++) {
                String session = admin.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}")
                        .json()
                        .string("session_id");
                JsonFields seen = own.await("event");
                assertThat(seen.string("entity_id")).isEqualTo(session);
                assertThat(seen.string("thread_id")).isEqualTo(thread);
                admin.post("/cleanup", "{\"session_id\":\"" + session + "\"}");
            }
        }
    }

    @Test
    void filterCanChangeWhileTheSocketIsOpen() {
        String session = admin.session();
        try (var own = listen(admin, "?event_types=a&entity_ids=" + session)) {
            own.send("{\"type\":\"subscribe\",\"event_types\":[\"b\"]}");
            assertThat(own.await("filter").optionalStrings("event_types").orElseThrow())
                    .containsExactly("a", "b");
            append(session, "b", "{}");
            assertThat(own.await("event").string("event_type")).isEqualTo("b");

            own.send("{\"type\":\"unsubscribe\",\"event_types\":[\"a\",\"b\"]}");
            assertThat(own.await("filter").optionalStrings("event_types").orElseThrow())
                    .isEmpty();
            append(session, "b", "{}");
            own.send("{\"type\":\"filter\",\"event_types\":[\"c\"]}").await("filter");
            append(session, "c", "{}");
            assertThat(own.await("event").string("event_type")).isEqualTo("c");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"dance\"}",
                "{\"type\":\"filter\",\"event_types\":\"a\"}",
                "{\"type\":\"filter\",\"event_types\":[1]}",
                "{\"type\":\"filter\",\"event_types\":[\"\"]}",
                "{\"type\":\"filter\",\"entity_types\":[\"planet\"]}",
                "{\"type\":\"filter\",\"entitytypes\":[\"task\"]}",
                "{\"type\":\"unsubscribe\",\"event_types\":[\"a\"]}",
                "[]",
                "nonsense"
            })
    void invalidMessageIsReportedAndTheSocketStaysOpen(String message) {
        try (var own = listen(admin, "")) {
            assertThat(own.send(message).await("error").string("code")).isEqualTo("invalid-request");
            own.send("{\"type\":\"ping\"}").await("pong");
        }
    }

    @Test
    void invalidTokenIsRejected() {
        for (String query : List.of("?token=nonsense", "?token=" + "x".repeat(4000))) {
            try (var stranger = open(query)) {
                assertThat(stranger.awaitClose()).isEqualTo(4401);
            }
        }
    }

    @Test
    void slowListenerReadsMissedEventsFromTheLog() throws Exception {
        List<String> sessions =
                IntStream.range(0, 3).mapToObj(i -> admin.session()).toList();
        String data = "{\"text\":\"" + "x".repeat(50_000) + "\"}";
        Map<String, Long> seen = new HashMap<>();
        try (var slow = ShellClient.open(
                SERVER.get().uri(), "/api/v1/ws/events?event_types=flood", Reading.NEVER, "X-API-Key", admin.key())) {
            slow.read(1);
            slow.await("connected");
            try (var callers =
                    Executors.newFixedThreadPool(64, Thread.ofVirtual().factory())) {
                for (int i = 0; i < 600; i++) {
                    String session = sessions.get(i % sessions.size());
                    callers.submit(() -> append(session, "flood", data));
                }
            }
            append(sessions.getFirst(), "flood", "{\"last\":true}");
            slow.read(Long.MAX_VALUE);
            boolean missed = false;
            while (true) {
                JsonFields message = slow.next();
                if (message.string("type").equals("missed")) {
                    missed = true;
                    catchUp(message, seen);
                } else if (message.string("type").equals("event")) {
                    follow(message, seen);
                    if (message.object("data").optionalFlag("last").orElse(false)) {
                        break;
                    }
                }
            }
            assertThat(missed).isTrue();
        }
        for (String session : sessions) {
            assertThat(seen.get(session)).isGreaterThanOrEqualTo(200);
        }
    }

    /// Reads the missed events from the log. The gap starts after the last event that the listener received.
    private void catchUp(JsonFields message, Map<String, Long> seen) {
        assertThat(message.flag("complete")).isTrue();
        for (JsonFields gap : message.objects("sandboxes")) {
            String session = gap.string("sandbox_id");
            long after = gap.integer("after_seq");
            long until = gap.integer("until_seq");
            seen.computeIfPresent(session, (_, last) -> {
                assertThat(last).isEqualTo(after);
                return last;
            });
            long limit = Math.min(until - after, 10);
            var page = admin.get("/api/v1/sandboxes/" + session + "/events?after_seq=" + after + "&limit=" + limit)
                    .json()
                    .objects("events");
            assertThat(page.getFirst().integer("seq")).isEqualTo(after + 1);
            assertThat(page).hasSize((int) limit);
            seen.put(session, until);
        }
    }

    private static void follow(JsonFields event, Map<String, Long> seen) {
        long seq = event.integer("seq");
        seen.compute(event.string("sandbox_id"), (_, last) -> {
            assertThat(last == null || last + 1 == seq).isTrue();
            return seq;
        });
    }

    @Test
    void feedIsAvailableAsServerSentEvents() throws Exception {
        Api ann = admin.as("feed-sse");
        String annsSandbox = session(ann, "feed-sse");
        String other = admin.session();
        var request = ann.request("/api/v1/events?event_types=feed.").build();
        var body = HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofInputStream())
                .body();
        try (var lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("event: connected");
            append(other, "feed.a", "{}");
            append(annsSandbox, "feed.b", "{}");

            assertThat(nextEventType(lines)).isEqualTo("feed.b");
        }
        assertThat(ann.get("/api/v1/events?entity_types=planet").status()).isEqualTo(400);
        assertThat(ann.with("nonsense").get("/api/v1/events").status()).isEqualTo(401);
    }

    private static JsonFields next(ShellClient listener, String type) {
        JsonFields event;
        do {
            event = listener.await("event");
        } while (!event.string("event_type").equals(type));
        return event;
    }

    private ShellClient listen(Api as, String query) {
        var listener = open(query);
        listener.auth(as.key(), "").await("connected");
        return listener;
    }

    private static ShellClient open(String query) {
        return ShellClient.open(SERVER.get().uri(), "/api/v1/ws/events" + query, Reading.ALWAYS);
    }

    private static String session(Api as, String user) {
        return as.post("/create_session", "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + Api.thread() + "\"}")
                .json()
                .string("session_id");
    }

    private void append(String session, String type, String data) {
        var answer = admin.post(
                "/api/v1/sandboxes/" + session + "/events",
                "{\"event_type\":\"" + type + "\",\"event_data\":" + data + "}");
        assertThat(answer.status()).isEqualTo(201);
    }
}
