package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.server.telemetry.Telemetry;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LogApiTest {
    private static final Logger LOGGER = Logger.getLogger(Telemetry.class.getName());

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final Handler collector = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            lines.add(entry.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void addCollector() {
        LOGGER.setLevel(Level.INFO);
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(collector);
    }

    @AfterEach
    void removeCollector() {
        LOGGER.removeHandler(collector);
        LOGGER.setUseParentHandlers(true);
        LOGGER.setLevel(null);
    }

    @Test
    void filesThatAreTooLargeByTheirDeclaredLengthAreLoggedAndCounted() {
        try (var server = TestServer.start("--max-file-size-mb", "1")) {
            Api api = server.api();
            String session = api.session();
            String large = "x".repeat(1_200_000);
            var first = api.upload(session, "new/large", large);
            var second = api.upload(Api.form().file("new/large", large).field("session_id", session));
            var third = api.put("/sandboxes/" + session + "/files/new/large", large);

            for (var refused : List.of(first, third)) {
                assertThat(refused.status()).isEqualTo(413);
                assertThat(refused.json().integer("actual_bytes")).isEqualTo(1_200_000);
            }
            assertThat(second.status()).isEqualTo(413);
            assertThat(lines.stream().filter(line -> line.contains("event=resource_limit_exceeded")))
                    .hasSize(3);
            assertThat(api.get("/metrics").text())
                    .contains("vivarium_limits_exceeded_total{limit=\"file-too-large\"} 3.0");
            assertThat(api.get("/list_files?recursive=false&session_id=" + session)
                            .text())
                    .contains("\"files\":[]");
        }
    }

    @Test
    void everyKindOfEventIsLogged() {
        try (var server = TestServer.start("--max-file-size-mb", "1", "--denied-patterns", "forbidden")) {
            Api api = server.api();
            String request = "{\"user_id\":\"user_abc123\",\"thread_id\":\"thread_xyz789\"}";
            String session = api.post("/create_session", request).json().string("session_id");
            api.post("/create_session", request);
            api.execute(session, "echo a\necho b");
            api.post("/execute", Api.command(session, "sleep 1000", "\"timeout\":0.1"));
            api.post("/execute", Api.command(session, "forbidden"));
            api.upload(session, "a", "b");
            api.download(session, "a");
            api.upload(session, "big", "x".repeat(1_060_000));
            // Makes the session expire as soon as the next server starts.
            server.restart(store -> store.write(sql -> sql.update("update sandboxes set idle_timeout_ms = 1")));
            await().until(() -> lines.stream().anyMatch(line -> line.contains("event=session_expired")));

            for (String event : List.of(
                    "session_created",
                    "session_reused",
                    "session_expired",
                    "command_executed",
                    "command_failed",
                    "file_uploaded",
                    "file_downloaded",
                    "validation_failed",
                    "resource_limit_exceeded")) {
                assertThat(lines)
                        .anyMatch(line -> line.startsWith("[SANDBOX] event=" + event
                                + " user=user_abc thread=thread_xyz78 session=" + session.substring(0, 12)
                                + " command="));
            }
            assertThat(lines).noneMatch(line -> line.contains("\n"));
            assertThat(lines).noneMatch(line -> line.contains(server.adminKey()));
        }
    }
}
