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

/// File events in isolated sandboxes, some of them from the pool. Needs root.
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

    /// A program in the sandbox takes every inotify instance that its user may have, and each that becomes free.
    @Test
    void sandboxWithoutInotifyInstancesIsPolled() {
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
            // The program also takes the instance that the guest had, before the next guest connection needs it.
            server.restart(_ -> await().until(() -> watches(sandbox) > taken));
            server.api().execute(sandbox, "echo x > unseen");

            awaitCreated(sandbox, "unseen");
            assertThat(warnings.messages)
                    .anySatisfy(message -> assertThat(message).contains("no inotify watch is left"));
        }
    }

    private static void awaitCreated(String sandbox, String path) {
        String events = "/api/v1/sandboxes/" + sandbox + "/events?type=file.created";
        await().untilAsserted(() -> assertThat(server.api().get(events).text()).contains("\"path\":\"" + path + "\""));
    }

    /// Number of inotify instances of the greedy program in a sandbox.
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
            return false; // The descriptor was closed.
        }
    }

    /// Collects the warnings of a class of the server.
    private static final class Warnings extends Handler implements AutoCloseable {
        private final Logger logger;
        final List<String> messages = new CopyOnWriteArrayList<>();

        Warnings(String name) {
            logger = Logger.getLogger(name);
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord record) {
            messages.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
