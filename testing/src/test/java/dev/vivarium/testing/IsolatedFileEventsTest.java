package dev.vivarium.testing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

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
}
