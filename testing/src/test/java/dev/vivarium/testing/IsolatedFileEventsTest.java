package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    @Override
    long guest(String sandbox) {
        try {
            Path pid = server.home().resolve("run").resolve(sandbox).resolve("pid");
            return Long.parseLong(Files.readString(pid).strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    Path outside(String sandbox, String path) {
        return Path.of("/proc/" + guest(sandbox) + "/root" + path);
    }

    /// A program of the sandbox takes every watch that its user may have, and each that becomes free.
    @Test
    void whereThereIsNoWatchLeftTheSandboxIsLookedAtNowAndThen() {
        String sandbox = server.api().session();
        server.api().execute(sandbox, "echo x > seen");
        awaitCreated(sandbox, "seen");
        String greedy = "import ctypes, time\n" + "libc = ctypes.CDLL(None)\n" + "while True:\n"
                + "    if libc.inotify_init() < 0: open('/tmp/full', 'w'); time.sleep(0.002)\n";
        server.api()
                .execute(
                        sandbox,
                        "cat > /tmp/" + sandbox + ".py <<'END'\n" + greedy + "END\n" + "python3 /tmp/" + sandbox
                                + ".py >/dev/null 2>&1 & until [ -e /tmp/full ]; do sleep 0.05; done");
        try (var warnings = new Warnings("dev.vivarium.core.watch.Watcher")) {
            long taken = watches(sandbox);
            // The one that the guest had is taken too, before anybody wants it back.
            server.restart(_ -> await().until(() -> watches(sandbox) > taken));
            server.api().execute(sandbox, "echo x > unseen");

            awaitCreated(sandbox, "unseen");
            assertThat(warnings.said).anySatisfy(said -> assertThat(said).contains("there is no watch left"));
        }
    }

    private static void awaitCreated(String sandbox, String path) {
        String events = "/api/v1/sandboxes/" + sandbox + "/events?type=file.created";
        await().untilAsserted(() -> assertThat(server.api().get(events).text()).contains("\"path\":\"" + path + "\""));
    }

    /// How many watches the greedy program of a sandbox has.
    private static long watches(String sandbox) {
        var greedy = ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .commandLine()
                        .filter(line -> line.endsWith("/tmp/" + sandbox + ".py"))
                        .isPresent())
                .findFirst()
                .orElseThrow();
        try (var open = Files.list(Path.of("/proc/" + greedy.pid() + "/fd"))) {
            return open.filter(IsolatedFileEventsTest::isWatch).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isWatch(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("inotify");
        } catch (IOException e) {
            return false; // It was closed meanwhile.
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
