package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonFields;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventsApiTest {
    /// Without metrics events, a log holds only the events of the tests.
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--metrics-every-seconds", "86400");

    private static final Duration NEVER = Duration.ofHours(1);

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void lifecycleOfASandboxIsLogged() {
        api.method("POST", "/sandboxes/" + session + "/pause");
        api.method("POST", "/sandboxes/" + session + "/resume");
        api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

        await().untilAsserted(() -> assertThat(types(api, "?type=sandbox."))
                .containsExactly("sandbox.started", "sandbox.paused", "sandbox.resumed", "sandbox.terminated"));
        assertThat(list(api, "?type=sandbox.").subList(1, 3))
                .extracting(event -> event.object("event_data"))
                .allSatisfy(data -> {
                    assertThat(data.string("reason")).isEqualTo("user");
                    assertThat(data.string("detail")).startsWith("by ");
                });
        JsonFields end = list(api, "").getLast();
        assertThat(end.object("event_data").string("reason")).isEqualTo("user");
        assertThat(end.string("source")).isEqualTo("sandbox");
    }

    @Test
    void terminatedEventIsStoredWhenTheDeletionReturns() {
        api.method("DELETE", "/api/v1/sandboxes/" + session);

        assertThat(types(api, "?type=sandbox.")).containsExactly("sandbox.started", "sandbox.terminated");
    }

    @Test
    void terminationByTheAdminIsNamedInTheEvent() {
        api.method("DELETE", "/admin/sandboxes/" + session);

        await().untilAsserted(() -> assertThat(list(api, "?type=sandbox.terminated")
                        .getFirst()
                        .object("event_data")
                        .text())
                .contains("\"reason\":\"user\"", "ended by the admin"));
    }

    @Test
    void commandIsLogged() {
        api.execute(session, "echo out; echo err >&2; exit 3");

        await().untilAsserted(() -> assertThat(types(api, "?type=command."))
                .startsWith("command.started")
                .endsWith("command.completed"));
        var commandEvents = list(api, "?type=command.");
        assertThat(commandEvents.getFirst().object("event_data").string("command"))
                .isEqualTo("echo out; echo err >&2; exit 3");
        assertThat(commandEvents.getLast().object("event_data").integer("exit_code"))
                .isEqualTo(3);
        assertThat(api.get(path(session) + "?type=command.output").text())
                .contains("\"stdout\":\"out\\n\"", "\"stderr\":\"err\\n\"");
    }

    @Test
    void onlyTheOwnerReadsTheLogOfAnEndedSandbox() {
        Api owner = api.as("owner-of-the-past");
        String ended = owner.post(
                        "/create_session", "{\"user_id\":\"owner-of-the-past\",\"thread_id\":\"" + Api.thread() + "\"}")
                .json()
                .string("session_id");
        owner.post("/cleanup", "{\"session_id\":\"" + ended + "\"}");

        assertThat(owner.get(path(ended)).status()).isEqualTo(200);
        assertThat(api.as("stranger").get(path(ended)).status()).isEqualTo(404);
        assertThat(owner.post(path(ended), "{\"event_type\":\"late\"}").status())
                .isEqualTo(404);
    }

    @Test
    void eventWithTheSameIdIsAppendedOnce() {
        var body = "{\"event_type\":\"agent.note\",\"event_id\":\"e-1\",\"source\":\"agent\","
                + "\"event_data\":{\"text\":\"€\\u0001\",\"big\":123456789012345678901234567890,\"list\":[1,2.5,null,true]}}";

        Api.Answer first = api.post(path(session), body);
        Api.Answer again = api.post(path(session), body);

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.json().string("status")).isEqualTo("ok");
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.text()).isEqualTo(first.text());
        assertThat(types(api, "?type=agent.")).containsExactly("agent.note");
        assertThat(api.get(path(session) + "?type=agent.").text())
                .contains("\"event_data\":{\"text\":\"€\\u0001\",\"big\":123456789012345678901234567890,"
                        + "\"list\":[1,2.5,null,true]}");
    }

    @Test
    void batchIsAppendedInOrderAndOnce() {
        String one = "{\"event_type\":\"m.1\",\"event_id\":\"m-1\"}";
        String two = "{\"event_type\":\"m.2\",\"event_id\":\"m-2\",\"event_data\":{\"text\":\"ü\\n\"}}";
        Api.Answer first = api.post(path(session), "[" + one + "," + two + "]");
        Api.Answer again = api.post(path(session), "[" + one + "," + two + "]");
        Api.Answer lines = api.post(
                path(session),
                "application/x-ndjson",
                BodyPublishers.ofString(two + "\n\n{\"event_type\":\"m.3\",\"event_data\":{\"text\":\"ü\"}}\n"));

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.json().objects("events"))
                .extracting(event -> event.string("event_id"))
                .containsExactly("m-1", "m-2");
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.text()).isEqualTo(first.text());
        assertThat(lines.status()).isEqualTo(201);
        assertThat(lines.json().objects("events")).hasSize(2);
        assertThat(types(api, "?type=m.")).containsExactly("m.1", "m.2", "m.3");
    }

    @Test
    void batchWithAnInvalidEventAppendsNothing() {
        String good = "{\"event_type\":\"a\"}";
        String many = (good + ",").repeat(100) + good;

        assertThat(api.post(path(session), "[" + good + ",{\"event_type\":\"a b\"}]")
                        .json()
                        .string("field"))
                .isEqualTo("[1].event_type");
        assertThat(api.post(path(session), "[" + good + ",{\"event_typ\":\"a\"}]")
                        .json()
                        .string("field"))
                .isEqualTo("[1].event_type");
        for (String body : List.of("[]", "[" + many + "]", "[1]", "[" + good, "[" + good + "] []")) {
            assertThat(api.post(path(session), body).status()).isEqualTo(422);
        }
        assertThat(types(api, "?type=a")).isEmpty();
    }

    @Test
    void pagesFollowEachOther() {
        for (int i = 0; i < 5; i++) {
            api.post(path(session), "{\"event_type\":\"n." + i + "\"}");
        }

        var first = api.get(path(session) + "?type=n.&limit=3").json();
        var rest = api.get(path(session) + "?type=n.&limit=3&after_seq=" + first.integer("next_after_seq"))
                .json();

        assertThat(first.objects("events")).hasSize(3);
        assertThat(rest.objects("events"))
                .extracting(e -> e.string("event_type"))
                .containsExactly("n.3", "n.4");
    }

    @Test
    void pageOfLargeEventsIsShorterAndTheNextPageContinues() {
        String large = "{\"event_type\":\"large\",\"event_data\":{\"text\":\"" + "x".repeat(100_000) + "\"}}";
        String ten = "[" + (large + ",").repeat(9) + large + "]";
        for (int i = 0; i < 10; i++) {
            assertThat(api.post(path(session), ten).status()).isEqualTo(201);
        }

        var numbers = new ArrayList<Long>();
        var pages = new ArrayList<Integer>();
        long after = 0;
        do {
            JsonFields page = api.get(path(session) + "?type=large&limit=1000&after_seq=" + after)
                    .json();
            page.objects("events").forEach(event -> numbers.add(event.integer("seq")));
            pages.add(page.objects("events").size());
            after = page.integer("next_after_seq");
        } while (pages.getLast() > 0);

        assertThat(pages.getFirst()).isBetween(20, 23);
        assertThat(numbers).hasSize(100).isSorted().doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"event_type\":\"\"}",
                "{\"event_type\":\"a b\"}",
                "{\"event_type\":1}",
                "{\"event_type\":\"a\",\"event_data\":[]}",
                "{\"event_type\":\"a\",\"event_data\":\"x\"}",
                "{\"event_type\":\"a\",\"event_id\":\"\"}",
                "{\"event_type\":\"a\",\"event_id\":\"two words\"}",
                "{\"event_type\":\"a\",\"source\":\"\\u0000\"}",
                "{\"event_type\":\"sandbox.terminated\",\"source\":\"sandbox\"}",
                "{\"event_type\":\"a\",\"event_id\":\"sandbox:a\"}",
                "{\"event_type\":\"a\",\"more\":1}",
                "{\"event_type\":\"a\\nb\"}",
                "{\"event_type\":\"a\",\"event_type\":\"a\"}",
                "{\"event_type\":\"a\"} {}",
                "\u0000",
                "not json",
            })
    void invalidEventIsUnprocessable(String body) {
        Api.Answer answer = api.post(path(session), body);

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isNotEmpty();
        assertThat(types(api, "?type=a")).isEmpty();
    }

    @Test
    void numberOutOfRangeIsUnprocessable() {
        Api.Answer answer = api.post(path(session), "{\"event_type\":\"a\",\"event_data\":{\"x\":1e999}}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("event_data.x");
        assertThat(types(api, "?type=a")).isEmpty();
    }

    @Test
    void oversizedAndDeeplyNestedDataIsUnprocessable() {
        var large = "{\"event_type\":\"a\",\"event_data\":{\"x\":\"" + "y".repeat(101 * 1024) + "\"}}";
        var deep = "{\"event_type\":\"a\",\"event_data\":" + "{\"x\":".repeat(100) + "1" + "}".repeat(100) + "}";

        assertThat(api.post(path(session), large).json().string("field")).isEqualTo("event_data");
        assertThat(api.post(path(session), deep).status()).isEqualTo(422);
        for (String open : List.of("[", "{\"x\":")) {
            String unclosed = "{\"event_type\":\"a\",\"event_data\":{\"x\":" + open.repeat(10_000);
            assertThat(api.post(path(session), unclosed).status()).isEqualTo(422);
        }
        assertThat(types(api, "?type=a")).isEmpty();
    }

    @Test
    void appendNeedsALiveTokenWithScopeForThisSandbox() {
        String other = api.session();
        String body = "{\"event_type\":\"a\"}";
        String own = SERVER.get().token(session, Scope.PROCESS);

        assertThat(api.with(SERVER.get().token(other, Scope.PROCESS))
                        .post(path(session), body)
                        .status())
                .isEqualTo(404);
        assertThat(api.with(SERVER.get().token(session, Scope.SHELL_RO))
                        .post(path(session), body)
                        .status())
                .isEqualTo(403);
        assertThat(api.with(own).post(path(session), body).status()).isEqualTo(201);
        api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");
        var late = api.with(own).post(path(session), body);
        assertThat(late.status()).isEqualTo(404);
        assertThat(late.json().object("end").string("cause")).isEqualTo("user");
        assertThat(api.with(own).get(path(session)).status()).isEqualTo(404);
        assertThat(api.post("/api/v1/sandboxes/nonsense/events", body).status()).isEqualTo(404);
    }

    @Test
    void streamResumesAfterTheLastEventId() throws Exception {
        api.post(path(session), "{\"event_type\":\"a\"}");
        api.post(path(session), "{\"event_type\":\"b\"}");
        await().until(() -> types(api, "").size() == 3);
        try (var lines = stream("text/event-stream", "1")) {
            assertThat(eventTypes(lines, 2)).containsExactly("a", "b");

            api.post(path(session), "{\"event_type\":\"c\"}");
            assertThat(eventTypes(lines, 1)).containsExactly("c");
        }
    }

    @Test
    void streamSendsHeadersBeforeTheFirstEvent() {
        try (var server = TestServer.start(
                        config -> config.withWatch(config.watch().withKeepAlive(NEVER)));
                var client = HttpClient.newHttpClient()) {
            Api own = server.api();
            String events = path(own.session());
            await().until(() -> own.get(events).json().integer("head_seq") == 1);
            var request = own.request(events + "?after_seq=1")
                    .header("Accept", "text/event-stream")
                    .build();
            var answer = client.sendAsync(request, BodyHandlers.ofInputStream());
            assertThat(answer).succeedsWithin(Duration.ofMinutes(1)).returns(200, HttpResponse::statusCode);
            client.shutdownNow();
        }
    }

    @Test
    void streamFromPastTheEndOfTheLogIsRejected() {
        api.post(path(session), "{\"event_type\":\"a\"}");
        long head = api.get(path(session)).json().integer("head_seq");
        for (String mediaType : List.of("text/event-stream", "application/x-ndjson")) {
            var request = api.request(path(session) + "?after_seq=99999999").header("Accept", mediaType);
            var rejected = Api.send(request);
            assertThat(rejected.status()).isEqualTo(400);
            assertThat(rejected.json().string("field")).isEqualTo("after_seq");
            assertThat(rejected.json().string("detail")).contains("the last event of this log is " + head);
            var resumed = api.request(path(session)).header("Accept", mediaType).header("Last-Event-ID", "99999999");
            assertThat(Api.send(resumed).json().string("field")).isEqualTo("Last-Event-ID");
        }
        assertThat(list(api, "?after_seq=99999999"))
                .as("a page past the end is empty")
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?limit=0",
                "?after_seq=x",
                "?since=yesterday",
                "?afterseq=1",
                "?after_seq=-1",
                "?after_seq=9223372036854775808"
            })
    void invalidQueryIsRejected(String query) {
        assertThat(api.get(path(session) + query).status()).isEqualTo(400);
    }

    private BufferedReader stream(String mediaType, String lastSeen) throws Exception {
        var request = api.request(path(session))
                .header("Accept", mediaType)
                .header("Last-Event-ID", lastSeen)
                .build();
        var client = HttpClient.newHttpClient();
        var body = client.send(request, BodyHandlers.ofInputStream()).body();
        return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    private static List<String> eventTypes(BufferedReader lines, int count) throws IOException {
        var types = new ArrayList<String>();
        while (types.size() < count) {
            String line = lines.readLine();
            if (line.startsWith("data: ")) {
                types.add(dev.vivarium.json.Json.answer(line.substring("data: ".length()))
                        .string("event_type"));
            }
        }
        return types;
    }

    private List<String> types(Api as, String query) {
        return list(as, query).stream().map(event -> event.string("event_type")).toList();
    }

    private List<JsonFields> list(Api as, String query) {
        return as.get(path(session) + query).json().objects("events");
    }

    private static String path(String sandbox) {
        return "/api/v1/sandboxes/" + sandbox + "/events";
    }
}
