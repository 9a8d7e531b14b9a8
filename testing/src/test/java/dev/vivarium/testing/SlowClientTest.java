package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.server.settings.Config;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Clients that send one byte at a time, and so are never idle.
@Timeout(300)
class SlowClientTest {
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final long BYTE_INTERVAL_MILLIS = 100;

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(SlowClientTest::withShortDeadlines);

    private final Api api = SERVER.api();

    private static Config withShortDeadlines(Config config) {
        var http = config.http();
        return config.withHttp(http.withLimits(http.limits().withDeadlines(DEADLINE, DEADLINE)));
    }

    @Test
    void slowRequestHeadIsClosed() throws IOException {
        assertThat(sendSlowly("GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ")).isEmpty();
    }

    @Test
    void silentConnectionIsClosed() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            assertThat(client.readAll()).isEmpty();
        }
    }

    @Test
    void secondRequestHeadHasTheSameDeadline() throws IOException {
        assertThat(sendSlowly("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\nGET /openapi.json HTTP/1.1\r\nX-Slow: "))
                .startsWith("HTTP/1.1 200 ")
                .doesNotContain("HTTP/1.1 4");
    }

    @Test
    void slowRequestBodyIsClosed() throws IOException {
        String head = "POST /execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";

        assertThat(sendSlowly(head)).doesNotContain("HTTP/1.1 200");
    }

    @Test
    void silentCommandMayExceedTheHeadDeadline() {
        String session = api.session();

        assertThat(api.execute(session, "sleep 5; echo done").string("stdout")).isEqualTo("done\n");
    }

    @Test
    void keptAliveConnectionMayExceedTheHeadDeadline() throws IOException {
        try (var client = new RawClient(SERVER.get().uri());
                var later = Executors.newSingleThreadScheduledExecutor()) {
            client.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n");
            var _ = later.schedule(
                    () -> {
                        client.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                        return client;
                    },
                    2 * DEADLINE.toMillis(),
                    TimeUnit.MILLISECONDS);

            assertThat(client.readAll()).containsPattern("(?s)HTTP/1.1 200 .*HTTP/1.1 200 ");
        }
    }

    @Test
    void completeRequestHeadMayWaitForABusyServer() throws IOException {
        try (var client = new RawClient(SERVER.get().uri());
                var later = Executors.newSingleThreadScheduledExecutor()) {
            for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
                Thread.startVirtualThread(BlockedCarrier::block);
            }
            client.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            var _ = later.schedule(BlockedCarrier.RELEASE::countDown, 2 * DEADLINE.toMillis(), TimeUnit.MILLISECONDS);

            assertThat(client.readAll()).startsWith("HTTP/1.1 200 ");
        }
    }

    /// Blocks the carriers of virtual threads, because a thread in a static initializer keeps its carrier.
    private static final class BlockedCarrier {
        static final CountDownLatch RELEASE = new CountDownLatch(1);

        static void block() {
            Initializer.run();
        }

        private static final class Initializer {
            static {
                try {
                    RELEASE.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }

            static void run() {}
        }
    }

    /// Sends `start` and then one byte at a time until the server disconnects. Returns the response.
    private static String sendSlowly(String start) throws IOException {
        try (var client = new RawClient(SERVER.get().uri());
                var scheduler = Executors.newSingleThreadScheduledExecutor()) {
            client.send(start);
            var sending = scheduler.scheduleAtFixedRate(
                    () -> {
                        try {
                            client.send("x");
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    BYTE_INTERVAL_MILLIS,
                    BYTE_INTERVAL_MILLIS,
                    TimeUnit.MILLISECONDS);
            String answer = client.readAll();
            await().until(sending::isDone);
            return answer;
        }
    }
}
