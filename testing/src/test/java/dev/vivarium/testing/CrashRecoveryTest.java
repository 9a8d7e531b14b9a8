package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import org.junit.jupiter.api.Test;

/// Recovery from operations that a killed server left incomplete. Each test changes the store to the state at that
/// moment.
class CrashRecoveryTest {
    private static final String LISTENER = "read task; echo ready; read message; echo \"heard $message\"";

    @Test
    void startedWorkerThatWasNotRecordedIsRecovered() {
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
    void recordedWorkerThatNeverStartedFailsItsRun() {
        try (var server = TestServer.start("--max-restarts", "0")) {
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
    void pendingTerminatedEventIsPublishedOnce() {
        try (var server = TestServer.start()) {
            // The server publishes the newest pending events first, so the event of the other sandbox precedes that of
            // the marker.
            String marker = server.api().session();
            end(server, marker);
            String sandbox = server.api().session();
            end(server, sandbox);
            String deleteEvents = "delete from sandbox_events where event_type = 'sandbox.terminated'";
            server.restart(store -> change(store, deleteEvents));
            awaitEnd(server, marker);
            assertThat(ends(server, sandbox)).isEqualTo(1);

            server.restart(store -> change(store, deleteEvents + " and sandbox_id = '" + marker + "'"));
            awaitEnd(server, marker);
            assertThat(ends(server, sandbox)).isEqualTo(1);
        }
    }

    private static void end(TestServer server, String sandbox) {
        server.api().method("DELETE", AgentRun.SANDBOXES + "/" + sandbox);
        awaitEnd(server, sandbox);
    }

    private static void awaitEnd(TestServer server, String sandbox) {
        await().until(() -> ends(server, sandbox) > 0);
    }

    private static int ends(TestServer server, String sandbox) {
        var events = server.api().get(AgentRun.SANDBOXES + "/" + sandbox + "/events?type=sandbox.terminated");
        return events.json().objects("events").size();
    }

    private static void change(Db store, String statement) {
        store.write(sql -> sql.update(statement));
    }
}
