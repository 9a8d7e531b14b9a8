package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// `/health` names each part of the server that does not work.
@Timeout(120)
class HealthTest {
    private static final int TIMEOUT_MILLIS = 10_000;

    @Test
    void healthNamesTheSchedulerWhileNoVirtualThreadRuns() throws Exception {
        try (var server = TestServer.start()) {
            assertThat(server.api().get("/health").status()).isEqualTo(200);
            var stopped = new AtomicBoolean();
            int carriers = Runtime.getRuntime().availableProcessors();
            var busy = new CountDownLatch(carriers);
            for (int i = 0; i < carriers; i++) {
                Thread.ofVirtual().start(() -> {
                    busy.countDown();
                    while (!stopped.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            try {
                busy.await();
                await().until(() -> health(server).contains("\"scheduler\":\"virtual threads have not run"));
                assertThat(health(server)).startsWith("HTTP/1.1 503 ");
            } finally {
                stopped.set(true);
            }
            await().until(() -> health(server).startsWith("HTTP/1.1 200 "));
        }
    }

    @Test
    void healthNamesAGuestLoopThatHasEnded() {
        try (var server = TestServer.start()) {
            server.sandboxes().close();

            await().until(() -> health(server).contains("\"guest_loop\":"));
            assertThat(health(server)).startsWith("HTTP/1.1 503 ");
        }
    }

    /// Requests `/health` on a new connection from a platform thread.
    private static String health(TestServer server) {
        try (var socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream()
                    .write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
