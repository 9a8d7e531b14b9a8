package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The same in isolated sandboxes, some of them from the pool. Needs root.
@Tag("root")
class IsolatedFileEventsTest extends FileEventsContract {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--pool-size", "1", "--disk-mb", "64");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    TestServer server() {
        return server;
    }

    /// A program of the sandbox takes every watch that its user may have, and each that becomes free.
    @Test
    void whereThereIsNoWatchLeftTheSandboxIsLookedAtNowAndThen() {
        String sandbox = server.api().session();
        String greedy = "import ctypes, time\n" + "libc = ctypes.CDLL(None)\n" + "while True:\n"
                + "    if libc.inotify_init() < 0: open('/tmp/full', 'w'); time.sleep(0.002)\n";
        server.api()
                .execute(
                        sandbox,
                        "cat > /tmp/greedy.py <<'END'\n" + greedy + "END\n"
                                + "python3 /tmp/greedy.py >/dev/null 2>&1 & until [ -e /tmp/full ]; do sleep 0.05; done");
        try (var warnings = new Warnings("dev.vivarium.core.watch.Watcher")) {
            server.restart();
            server.api().execute(sandbox, "echo x > unseen");

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(server.api()
                                    .get("/api/v1/sandboxes/" + sandbox + "/events?type=file.created")
                                    .text())
                            .contains("\"path\":\"unseen\""));
            assertThat(warnings.said).anySatisfy(said -> assertThat(said).contains("there is no watch left"));
        }
    }

    /// What a part of the server says while it is open.
    private static final class Warnings extends Handler implements AutoCloseable {
        private final Logger logger;
        final List<String> said = new CopyOnWriteArrayList<>();

        Warnings(String name) {
            logger = Logger.getLogger(name);
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord record) {
            said.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
