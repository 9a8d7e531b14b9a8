package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Hosts that send without end, and programs that close the connection meanwhile.
@Timeout(120)
final class FloodTest extends EgressFixture {
    private static final byte[] EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
            .repeat(1000)
            .getBytes(StandardCharsets.US_ASCII);

    @Test
    void endlessInformationalResponsesReturn502AndCloseTheHost() throws Exception {
        var cutOff = new CountDownLatch(4);
        try (var outside = flooding(EARLY_HINTS, cutOff)) {
            allow("good.test:" + outside.port());
            var clients = new ArrayList<Socket>();
            for (int i = 0; i < 4; i++) {
                clients.add(connect());
                send(clients.get(i), request(outside));
            }
            for (Socket client : clients) {
                try (client) {
                    String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                    assertThat(answer).startsWith("HTTP/1.1 502 ").contains("16 informational responses");
                }
            }
            assertThat(cutOff.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.UNREACHABLE);
        }
    }

    @Test
    void sixteenInformationalResponsesAreSkipped() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(16)
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            allow("good.test:" + outside.port());
            assertThat(exchange(request(outside)))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .endsWith("ok");
        }
    }

    @Test
    void totalSizeOfInformationalHeadersIsLimited() throws Exception {
        String large = "HTTP/1.1 103 Early Hints\r\nX-Large: " + "a".repeat(40_000) + "\r\n\r\n";
        try (var outside = OutsideHost.answering(large + large + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
            allow("good.test:" + outside.port());
            assertThat(exchange(request(outside))).startsWith("HTTP/1.1 502 ").contains("64 KiB");
        }
    }

    @Test
    void clientDisconnectClosesTheConnectionToASilentHost() throws Exception {
        var requested = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        try (var outside = OutsideHost.doing((socket, self) -> {
            self.head(socket);
            requested.countDown();
            assertEnd(socket);
            closed.countDown();
        })) {
            allow("good.test:" + outside.port());
            try (var client = connect()) {
                send(client, request(outside));
                requested.await();
            }
            assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void clientDisconnectClosesATunnelToAFloodingHost() throws Exception {
        var cutOff = new CountDownLatch(1);
        try (var outside = OutsideHost.doing((socket, _) -> flood(socket, new byte[65_536], cutOff))) {
            allow("good.test:" + outside.port());
            try (var client = tunnel("good.test:" + outside.port())) {
                Thread sender = Thread.ofPlatform().daemon().start(() -> sendForever(client));
                assertThat(client.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
                // The thread that copies the program's bytes blocks now or soon, because the host reads none of them.
                client.setSoLinger(true, 0);
                client.close();
                sender.join();
            }
            assertThat(cutOff.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void lossOfTheGuestClosesATunnelToAFloodingHost() throws Exception {
        var cutOff = new CountDownLatch(1);
        try (var outside = OutsideHost.doing((socket, _) -> flood(socket, new byte[65_536], cutOff))) {
            allow("good.test:" + outside.port());
            try (var client = tunnel("good.test:" + outside.port())) {
                Thread sender = Thread.ofPlatform().daemon().start(() -> sendForever(client));
                // The thread that copies the program's bytes blocks, because the host reads none of them.
                awaitBlocked(sender);
                real.process().destroyForcibly();
            }
            assertThat(cutOff.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void commandsRunWhileHostsFlood() throws Exception {
        var cutOff = new CountDownLatch(1);
        byte[] tinyChunks = "1\r\nx\r\n".repeat(10_000).getBytes(StandardCharsets.US_ASCII);
        try (var outside = OutsideHost.doing((socket, self) -> {
            self.head(socket);
            socket.getOutputStream()
                    .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            flood(socket, tinyChunks, cutOff);
        })) {
            allow("good.test:" + outside.port());
            var readers = new ArrayList<Socket>();
            for (int i = 0; i < 8; i++) {
                Socket client = connect();
                readers.add(client);
                send(client, request(outside));
                Thread.ofPlatform().daemon().start(() -> discard(client));
            }
            try {
                for (int i = 0; i < 5; i++) {
                    assertThat(real.guest().pingWithin(Duration.ofMinutes(1))).isPositive();
                }
            } finally {
                for (Socket client : readers) {
                    client.close();
                }
            }
            assertThat(cutOff.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static String request(OutsideHost outside) {
        return "GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n";
    }

    private static OutsideHost flooding(byte[] bytes, CountDownLatch cutOff) throws IOException {
        return OutsideHost.doing((socket, self) -> {
            self.head(socket);
            flood(socket, bytes, cutOff);
        });
    }

    /// Sends the bytes repeatedly, on a platform thread, so that it does not depend on the scheduler of virtual
    /// threads.
    private static void flood(Socket socket, byte[] bytes, CountDownLatch cutOff) {
        Thread sender = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    socket.getOutputStream().write(bytes);
                }
            } catch (IOException e) {
                cutOff.countDown();
            }
        });
        Tunnel.await(sender);
    }

    /// Waits until the thread has used no processor time in half a second.
    private static void awaitBlocked(Thread sender) {
        var threads = ManagementFactory.getThreadMXBean();
        var used = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(500)).until(() -> {
            long now = threads.getThreadCpuTime(sender.threadId());
            return used.getAndSet(now) == now;
        });
    }

    private static void sendForever(Socket client) {
        try {
            while (true) {
                client.getOutputStream().write(new byte[65_536]);
            }
        } catch (IOException e) {
            // The test has closed the socket.
        }
    }

    private static void discard(Socket client) {
        try {
            client.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
            // The test has closed the socket.
        }
    }

    private static void assertEnd(Socket socket) throws IOException {
        assertThat(socket.getInputStream().read()).isNegative();
    }
}
