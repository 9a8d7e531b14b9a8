package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// What becomes of things that a server had half done when it died. The store is as it was at that moment.
class HalfDoneTest {
    private static final String LISTENER = "read task; echo ready; read message; echo \"heard $message\"";

    @Test
    void aWorkerThatWasStartedAndNotWrittenDownIsFoundAgain() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, LISTENER);
            run.awaitEvent("agent.output");
            server.restart(store -> {
                change(store, "update sandbox_runs set status = 'creating'");
                change(store, "delete from sandbox_events where event_type = 'sandbox.run_started'");
            });

            run.awaitStatus("running");
            run.awaitEvent("sandbox.run_started");
            server.api().post(run.path() + "/messages", "{\"content\":\"hello\"}");
            run.awaitStatus("completed");
            assertThat(run.events("agent.output")).contains("hello");
        }
    }

    @Test
    void aWorkerThatWasNamedAndNeverStartedIsARunThatFailed() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, "exec sleep 1000");
            run.awaitEvent("agent.started");
            server.restart(store ->
                    change(store, "update sandbox_runs set status = 'creating', process = 'p0123456789abcdef'"));

            run.awaitStatus("failed");
            assertThat(run.sandbox().string("reason"))
                    .isEqualTo("the server stopped while the worker was being started");
        }
    }

    @Test
    void anEndThatWasStoredAndNotToldIsToldOnce() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, "true");
            run.awaitStatus("completed");
            server.api().method("DELETE", run.path());
            await().until(() -> run.events("sandbox.terminated").contains("ended by request"));
            server.restart(
                    store -> change(store, "delete from sandbox_events where event_type = 'sandbox.terminated'"));

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(
                            () -> assertThat(run.events("sandbox.terminated")).contains("ended by request"));
            server.restart();
            assertThat(run.events("sandbox.terminated").split(Pattern.quote("\"sandbox.terminated\""), -1))
                    .hasSize(2);
        }
    }

    private static void change(Db store, String statement) {
        store.write(sql -> sql.update(statement));
    }
}
