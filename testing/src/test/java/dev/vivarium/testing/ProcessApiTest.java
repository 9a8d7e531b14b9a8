package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessApiTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void commandMayBeAShellLineOrAnArgumentList() {
        assertThat(exec("{\"command\":\"echo $((1+1))\"}").json().string("stdout"))
                .isEqualTo("2\n");
        assertThat(exec("{\"command\":[\"printf\",\"%s|\",\"$HOME\",\"it's\"]}")
                        .json()
                        .string("stdout"))
                .isEqualTo("$HOME|it's|");
        assertThat(exec("{\"command\":\"cat\",\"stdin\":\"in\"}").json().string("stdout"))
                .isEqualTo("in");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"command\":\"\"}",
                "{\"command\":[]}",
                "{\"command\":[1]}",
                "{\"command\":\"true\",\"detach\":1}",
                "{\"command\":\"true\",\"session_id\":\"x\"}",
                "{\"command\":\"true\",\"timeout\":0}",
                "{\"command\":\"true\",\"env\":{\"LD_PRELOAD\":\"x\"}}",
            })
    void invalidRequestIsRejected(String body) {
        assertThat(exec(body).status()).isEqualTo(400);
    }

    @Test
    void eventsAreStreamedAndNameTheProcess() {
        var answer = Api.send(api.request(path("exec"))
                .header("Content-Type", "application/json")
                .header("Accept", "application/x-ndjson")
                .POST(BodyPublishers.ofString("{\"command\":\"echo a; exit 3\"}")));
        var events = events(answer);

        assertThat(events.getFirst().string("process_id")).startsWith("p");
        assertThat(text(events)).isEqualTo("a\n");
        assertThat(events.getLast().integer("exit_code")).isEqualTo(3);
    }

    @Test
    void detachedProcessIsObservableFromStartToExit() {
        var started = exec("{\"command\":\"echo first; cat; exit 7\",\"detach\":true}");
        String id = started.json().string("process_id");

        assertThat(started.status()).isEqualTo(201);
        assertThat(started.json().string("state")).isEqualTo("running");
        assertThat(started.json().string("who")).isEqualTo("admin");
        assertThat(api.get(path("processes")).json().objects("processes"))
                .singleElement()
                .satisfies(process -> assertThat(process.string("process_id")).isEqualTo(id));
        assertThat(stdin(id, "typed\n", "").status()).isEqualTo(204);
        assertThat(stdin(id, "last", "?eof=true").status()).isEqualTo(204);

        var events = events(api.get(path("processes/" + id + "/output")));

        assertThat(text(events)).isEqualTo("first\ntyped\nlast");
        assertThat(events.getLast().integer("exit_code")).isEqualTo(7);
        var ended = api.get(path("processes/" + id)).json();
        assertThat(ended.string("state")).isEqualTo("exited");
        assertThat(ended.object("exit").integer("exit_code")).isEqualTo(7);
        assertThat(text(events(api.get(path("processes/" + id + "/output"))))).isEqualTo("first\ntyped\nlast");
        assertThat(stdin(id, "x", "").status()).isEqualTo(409);
        assertThat(signal(id, "TERM").status()).isEqualTo(409);
        assertThat(api.method("DELETE", path("processes/" + id)).status()).isEqualTo(204);
        assertThat(api.get(path("processes/" + id)).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "SIGINT", "HUP", "USR1", "USR2", "QUIT", "WINCH"})
    void signalReachesTheProcess(String name) {
        String bare = name.replace("SIG", "");
        String id =
                detach("trap 'echo got " + bare + "; exit 0' " + bare + "; echo ready; while :; do sleep 0.05; done");
        awaitOutput(id, "ready");

        assertThat(signal(id, name).status()).isEqualTo(204);

        assertThat(text(events(api.get(path("processes/" + id + "/output"))))).contains("got " + bare);
    }

    @Test
    void deletionKillsTheWholeProcessTree() {
        String id = detach("sleep 1000 & echo $!; wait");
        awaitOutput(id, "\n");
        String child = output(id).strip();

        assertThat(api.method("DELETE", path("processes/" + id)).status()).isEqualTo(204);

        await().until(() ->
                api.get(path("processes/" + id)).json().string("state").equals("exited"));
        assertThat(api.get(path("processes/" + id)).json().object("exit").integer("signal"))
                .isEqualTo(9);
        await().until(() -> api.execute(session, "kill -0 " + child).integer("exit_code") != 0);
    }

    @Test
    void anUnknownSignalOrProcessIsRefused() {
        String id = detach("sleep 1000");

        assertThat(signal(id, "SEGV").status()).isEqualTo(400);
        assertThat(signal("p0", "TERM").status()).isEqualTo(404);
        assertThat(api.get(path("processes/p0/output")).status()).isEqualTo(404);
        assertThat(stdin("p0", "x", "").status()).isEqualTo(404);
        assertThat(api.as("stranger").get(path("processes/" + id)).status()).isEqualTo(404);
        String other = api.session();
        assertThat(api.get("/sandboxes/" + other + "/processes/" + id).status()).isEqualTo(404);
    }

    @Test
    void lateReaderReceivesTheCountOfMissedBytes() {
        String id = detach("head -c 1000000 /dev/zero | tr '\\0' x; echo END");
        await().until(() ->
                api.get(path("processes/" + id)).json().string("state").equals("exited"));
        var events = events(api.get(path("processes/" + id + "/output")));
        long missed = missed(events);

        assertThat(missed).isPositive();
        assertThat(missed + text(events).length()).isEqualTo(1_000_004);
        assertThat(text(events)).endsWith("END\n").hasSizeLessThanOrEqualTo(256 * 1024);
    }

    @Test
    void detachedProcessSurvivesAServerRestart() {
        try (var server = TestServer.start()) {
            String box = "/sandboxes/" + server.api().session();
            String running = start(server.api(), box, "echo before; echo aside >&2; read line; echo got $line; exit 5");
            String chatty = start(server.api(), box, "head -c 1000000 /dev/zero | tr '\\\\0' x; read line");
            String ended = start(server.api(), box, "read line; exit 4");
            awaitOutputLength(server.api(), box, running, "before\naside\n");

            server.restart();

            Api api = server.api();
            assertThat(api.get(box + "/processes").json().objects("processes"))
                    .extracting(process -> process.string("process_id") + " " + process.string("state"))
                    .containsExactlyInAnyOrder(running + " running", chatty + " running", ended + " running");
            for (String id : List.of(running, ended)) {
                var typed = Api.send(api.request(box + "/processes/" + id + "/stdin?eof=true")
                        .POST(BodyPublishers.ofString("typed\n")));
                assertThat(typed.status()).as(typed.text()).isEqualTo(204);
            }
            var events = events(api.get(box + "/processes/" + running + "/output"));
            assertThat(text(events)).contains("before\n", "got typed\n");
            assertThat(events.getLast().integer("exit_code")).isEqualTo(5);
            await().until(() -> api.get(box + "/processes/" + ended).text().contains("\"exit_code\":4"));
            await().untilAsserted(() -> {
                var late = events(api.get(box + "/processes/" + chatty + "/output?follow=false"));
                assertThat(missed(late)).isPositive();
                assertThat(missed(late) + text(late).length()).isEqualTo(1_000_000);
            });
        }
    }

    private static String start(Api api, String box, String script) {
        return api.post(box + "/exec", "{\"command\":\"" + script + "\",\"detach\":true}")
                .json()
                .string("process_id");
    }

    private static void awaitOutputLength(Api api, String box, String id, String text) {
        await().until(() -> text(events(api.get(box + "/processes/" + id + "/output?follow=false")))
                        .length()
                >= text.length());
    }

    @Test
    void severalReadersReceiveTheOutputOfOneProcess() throws Exception {
        String id = detach("read go; for i in $(seq 200); do echo line $i; done");
        try (var readers = Executors.newVirtualThreadPerTaskExecutor()) {
            var outputs = IntStream.range(0, 5)
                    .mapToObj(_ -> readers.submit(() -> text(events(api.get(path("processes/" + id + "/output"))))))
                    .toList();
            stdin(id, "go\n", "");
            for (var text : outputs) {
                assertThat(text.get()).startsWith("line 1\n").endsWith("line 200\n");
            }
        }
    }

    @Test
    void numberOfDetachedProcessesIsLimited() {
        String full = api.session();
        for (int i = 0; i < 64; i++) {
            assertThat(api.post("/sandboxes/" + full + "/exec", "{\"command\":[\"sleep\",\"1000\"],\"detach\":true}")
                            .status())
                    .isEqualTo(201);
        }
        assertThat(api.post("/sandboxes/" + full + "/exec", "{\"command\":[\"sleep\",\"1000\"],\"detach\":true}")
                        .status())
                .isEqualTo(429);
    }

    @Test
    void runningCommandIsListed() throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var result = workers.submit(
                    () -> exec("{\"command\":\"sleep 1000\",\"timeout\":60}").json());
            await().until(() ->
                    !api.get(path("processes")).json().objects("processes").isEmpty());
            var process = api.get(path("processes")).json().objects("processes").getFirst();

            assertThat(process.string("kind")).isEqualTo("exec");
            assertThat(signal(process.string("process_id"), "TERM").status()).isEqualTo(204);
            assertThat(result.get().integer("signal")).isEqualTo(15);
        }
        // The server removes the process shortly after the response.
        await().until(() ->
                api.get(path("processes")).json().objects("processes").isEmpty());
    }

    private String path(String rest) {
        return "/sandboxes/" + session + "/" + rest;
    }

    private Api.Answer exec(String body) {
        return api.post(path("exec"), body);
    }

    private String detach(String script) {
        String body = new String(
                Json.bytes(out -> {
                    out.writeStringProperty("command", script);
                    out.writeBooleanProperty("detach", true);
                }),
                StandardCharsets.UTF_8);
        return exec(body).json().string("process_id");
    }

    private Api.Answer signal(String id, String name) {
        return api.post(path("processes/" + id + "/signal"), "{\"name\":\"" + name + "\"}");
    }

    private Api.Answer stdin(String id, String text, String query) {
        return api.post(
                path("processes/" + id + "/stdin" + query), "application/octet-stream", BodyPublishers.ofString(text));
    }

    private String output(String id) {
        return text(events(api.get(path("processes/" + id + "/output?follow=false"))));
    }

    private void awaitOutput(String id, String text) {
        await().until(() -> output(id).contains(text));
    }

    private static List<JsonFields> events(Api.Answer answer) {
        assertThat(answer.status()).isEqualTo(200);
        return answer.text().lines().map(Json::answer).toList();
    }

    private static long missed(List<JsonFields> events) {
        return events.stream()
                .filter(event -> event.string("type").equals("missed"))
                .mapToLong(event -> event.integer("bytes"))
                .sum();
    }

    private static String text(List<JsonFields> events) {
        var text = new StringBuilder();
        for (var event : events) {
            if (event.string("type").startsWith("std")) {
                text.append(event.string("data"));
            }
        }
        return text.toString();
    }
}
