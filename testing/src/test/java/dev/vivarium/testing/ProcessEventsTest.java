package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Needs a kernel with process events, and the initial namespaces.
class ProcessEventsTest {
    private static TestServer server;

    private final String session = api().session();

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--process-events", "on");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Api api() {
        return server.api();
    }

    @Test
    void healthShowsThatTheKernelReportsProcesses() {
        assertThat(api().get("/health").json().object("provider").string("processes"))
                .isEqualTo("kernel");
    }

    @Test
    void aProcessThatACommandStartsHasEvents() {
        api().execute(session, "sh -c 'sleep 0.2; exit 3'; true");

        await().untilAsserted(() -> assertThat(processes("command.completed"))
                .anySatisfy(event -> assertThat(event.integer("exit_code")).isEqualTo(3)));
        JsonFields shell = started("sh -c sleep 0.2; exit 3");
        started("sleep 0.2");
        assertThat(processes("command.started"))
                .noneSatisfy(event -> assertThat(event.string("command")).contains("; true"));
        assertThat(processes("command.completed"))
                .filteredOn(event -> event.integer("pid") == shell.integer("pid"))
                .singleElement()
                .satisfies(event -> assertThat(event.string("cause")).isEqualTo("exited"));
    }

    @Test
    void aKilledProcessOfADaemonHasItsSignal() {
        api().execute(session, "setsid sh -c 'sleep 600; sleep 601' > /dev/null 2>&1 &");
        await().untilAsserted(() -> started("sleep 600"));
        api().execute(session, "kill -9 " + started("sleep 600").integer("pid"));

        await().untilAsserted(() -> started("sleep 601"));
        assertThat(processes("command.completed"))
                .filteredOn(
                        event -> event.integer("pid") == started("sleep 600").integer("pid"))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.string("cause")).isEqualTo("signalled");
                    assertThat(event.integer("exit_code")).isEqualTo(137);
                });
    }

    @Test
    void manyProcessesAreFolded() {
        api().execute(session, "for i in $(seq 300); do sleep 0; done");

        await().untilAsserted(() -> assertThat(list("command.processes_folded").stream()
                        .mapToLong(event -> event.object("event_data").integer("processes"))
                        .sum())
                .isGreaterThan(100));
        assertThat(processes("command.started")).hasSizeLessThan(200);
    }

    @Test
    void theTerminalShowsNoProcesses() {
        api().execute(session, "sh -c 'sleep 0.1; echo done'; true");
        await().untilAsserted(() -> started("sleep 0.1"));

        assertThat(api().get("/api/v1/sandboxes/" + session + "/terminal").text())
                .contains("done")
                .doesNotContain("$ sleep");
    }

    @Test
    void processesHaveEventsAfterARestartOfTheServer() {
        api().execute(session, "(until [ -e go ]; do sleep 0.05; done; exec sleep 602) > /dev/null 2>&1 &");
        server.restart();
        api().execute(session, "touch go; sh -c 'sleep 0.2; sleep 0.1'; true");

        await().untilAsserted(() -> started("sleep 0.2"));
    }

    private JsonFields started(String command) {
        return processes("command.started").stream()
                .filter(event -> event.string("command").equals(command))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no process " + command));
    }

    /// Returns the data of the events that the kernel reported.
    private List<JsonFields> processes(String type) {
        return list(type).stream()
                .filter(event -> event.string("source").equals("kernel"))
                .map(event -> event.object("event_data"))
                .toList();
    }

    private List<JsonFields> list(String type) {
        return api().get("/api/v1/sandboxes/" + session + "/events?limit=1000&type=" + type)
                .json()
                .objects("events");
    }
}
