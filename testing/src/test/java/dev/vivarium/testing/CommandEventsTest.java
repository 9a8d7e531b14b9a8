package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CommandEventsTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--metrics-every-seconds", "0.5");

    private final String session = api().session();

    private static Api api() {
        return SERVER.api();
    }

    @Test
    void shellOutputIsLoggedButHiddenInputIsNot() {
        try (var shell = ShellClient.enter(SERVER.get().uri(), session, api().key(), "")) {
            shell.type("stty -echo; echo ready; read -r secret; stty echo; echo length ${#secret}\n");
            await().untilAsserted(() -> assertThat(output("stdout")).contains("ready\r\n"));
            shell.type("hunter22\n");
            await().untilAsserted(() -> assertThat(output("stdout")).contains("length 8"));
            shell.type("exit 3\n");

            JsonFields end = awaitLast("command.completed").object("event_data");
            assertThat(end.integer("exit_code")).isEqualTo(3);
            assertThat(end.string("session_id")).isEqualTo(shell.session());
        }
        JsonFields start = list("command.started").getFirst().object("event_data");
        assertThat(start.string("kind")).isEqualTo("shell");
        assertThat(start.string("command")).isEqualTo("bash");
        assertThat(api().get("/api/v1/sandboxes/" + session + "/events?limit=1000")
                        .text())
                .doesNotContain("hunter22");
    }

    @Test
    void detachedCommandIsLoggedOnceAcrossARestart() {
        String id = api().post(
                        "/sandboxes/" + session + "/exec",
                        "{\"command\":\"echo one; echo warned >&2; until [ -e go ]; do sleep 0.05; done; echo two\","
                                + "\"detach\":true}")
                .json()
                .string("process_id");
        await().untilAsserted(() -> {
            assertThat(output("stdout")).isEqualTo("one\n");
            assertThat(output("stderr")).isEqualTo("warned\n");
        });
        SERVER.get().restart();
        api().execute(session, "touch go");

        JsonFields end = awaitLast("command.completed").object("event_data");
        await().untilAsserted(() -> assertThat(list("command.completed"))
                .anySatisfy(e -> assertThat(e.object("event_data").text()).contains(id)));
        assertThat(end.integer("exit_code")).isZero();
        assertThat(output("stdout")).isEqualTo("one\ntwo\n");
        assertThat(output("stderr")).isEqualTo("warned\n");
        assertThat(list("command.started"))
                .filteredOn(e -> e.object("event_data").text().contains(id))
                .hasSize(1);
    }

    @Test
    void shellIsLoggedOnceAcrossARestart() {
        try (var shell = ShellClient.enter(SERVER.get().uri(), session, api().key(), "")) {
            shell.type("PS1=; stty -echo; printf 'be%s\\n' fore\n");
            await().untilAsserted(() -> assertThat(output("stdout")).contains("before\r\n"));
            SERVER.get().restart();
            try (var again = ShellClient.enter(
                    SERVER.get().uri(), session, api().key(), "\"session_id\":\"" + shell.session() + "\"")) {
                again.type("printf 'af%s\\n' ter\n");
                await().untilAsserted(() -> assertThat(output("stdout")).contains("after\r\n"));
            }
        }
        assertThat(output("stdout").split("before\r\n", -1)).hasSize(2);
        assertThat(list("command.started")).hasSize(1);
    }

    @Test
    void activeSandboxPublishesMetrics() {
        api().execute(session, "head -c 1000000 /dev/urandom > file");

        JsonFields metrics = awaitLast("sandbox.metrics").object("event_data");
        assertThat(metrics.integer("memory_limit_bytes")).isPositive();
        assertThat(metrics.integer("disk_limit_bytes")).isPositive();
        assertThat(metrics.text())
                .contains("\"cpu_percent\":", "\"processes\":", "\"disk_bytes\":", "\"memory_bytes\":");
    }

    @Test
    void idleSandboxPublishesNoMetrics() {
        api().execute(session, "true");
        awaitLast("sandbox.metrics");
        String other = api().session();
        // The last metrics of the command may arrive a little later; after them there are none.
        await().atMost(Duration.ofMinutes(3)).untilAsserted(() -> {
            int published = list("sandbox.metrics").size();
            awaitMoreMetrics(other);
            assertThat(list("sandbox.metrics")).hasSize(published);
        });
    }

    /// Waits until a used sandbox has published several more metrics events.
    private static void awaitMoreMetrics(String used) {
        int before = metrics(used);
        await().untilAsserted(() -> {
            api().execute(used, "true");
            assertThat(metrics(used)).isGreaterThan(before + 3);
        });
    }

    private static int metrics(String sandbox) {
        return api().get("/api/v1/sandboxes/" + sandbox + "/events?limit=1000&type=sandbox.metrics")
                .json()
                .objects("events")
                .size();
    }

    private JsonFields awaitLast(String type) {
        await().untilAsserted(() -> assertThat(list(type)).isNotEmpty());
        return list(type).getLast();
    }

    private String output(String stream) {
        return list("command.output").stream()
                .map(e -> e.object("event_data"))
                .filter(data -> data.text().contains("_id\":\""))
                .map(data -> data.optionalString(stream).orElse(""))
                .collect(Collectors.joining());
    }

    private List<JsonFields> list(String type) {
        return api().get("/api/v1/sandboxes/" + session + "/events?limit=1000&type=" + type)
                .json()
                .objects("events");
    }
}
