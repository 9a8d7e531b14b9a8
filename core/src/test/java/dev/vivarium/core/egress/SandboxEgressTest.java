package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Listener, connection limit and tunnels of a sandbox.
@Timeout(300)
final class SandboxEgressTest extends EgressFixture {
    @Test
    void proxyListensOnlyWhileAHostIsAllowed() {
        sandboxEgress.attach(real.guest());
        assertThat(sandboxEgress.env()).isEmpty();
        allow("good.test");
        assertThat(sandboxEgress.env())
                .containsKeys("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY")
                .containsEntry("NO_PROXY", "localhost,127.0.0.1,::1");
        int port = port();
        allow();
        assertThat(sandboxEgress.env()).isEmpty();
        await().until(() -> !canConnect(port));
    }

    @Test
    void tunnelCopiesBothDirectionsAndClosesEachSeparately() throws Exception {
        var data = new byte[2_000_000];
        new Random(3).nextBytes(data);
        data[0] = 'x';
        try (var outside = OutsideHost.doing((socket, _) -> {
            byte[] all = socket.getInputStream().readAllBytes();
            socket.getOutputStream().write(all);
        })) {
            allow("good.test:" + outside.port());
            try (var client = connect()) {
                send(client, "CONNECT good.test:" + outside.port() + " HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(line(client)).isEqualTo("HTTP/1.1 200 Connection Established");
                assertThat(line(client)).isEmpty();
                client.getOutputStream().write(data);
                client.shutdownOutput();
                assertThat(client.getInputStream().readAllBytes()).isEqualTo(data);
            }
            EgressRecord egressRecord = egressRecords.take();
            assertThat(egressRecord.method()).isEqualTo("CONNECT");
            assertThat(egressRecord.up()).isGreaterThan(data.length);
            assertThat(egressRecord.down()).isGreaterThan(data.length);
        }
    }

    @Test
    void removingAHostClosesItsTunnels() throws Exception {
        names.put("other.test", List.of(LOOPBACK));
        try (var outside =
                OutsideHost.doing((socket, _) -> socket.getInputStream().transferTo(socket.getOutputStream()))) {
            int port = outside.port();
            allow("good.test:" + port, "other.test:" + port);
            try (var leaving = tunnel("good.test:" + port);
                    var staying = tunnel("other.test:" + port)) {
                allow("other.test:" + port);
                assertThat(leaving.getInputStream().read()).isEqualTo(-1);
                assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.CUT);
                staying.getOutputStream().write('x');
                assertThat(staying.getInputStream().read()).isEqualTo('x');
                sandboxEgress.cut();
                assertThat(staying.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void connectionsBeyondTheLimitAreQueued() throws Exception {
        open(List.of("127.0.0.1/32"), 4);
        var open = new java.util.concurrent.atomic.AtomicInteger();
        var maxOpen = new java.util.concurrent.atomic.AtomicInteger();
        var fourOpen = new CyclicBarrier(4);
        try (var outside = OutsideHost.doing((socket, _) -> {
            maxOpen.accumulateAndGet(open.incrementAndGet(), Math::max);
            int x = socket.getInputStream().read();
            awaitAll(fourOpen);
            // Decrement before the client is answered: the next connection may start before this thread continues.
            open.decrementAndGet();
            socket.getOutputStream().write(x);
        })) {
            allow("good.test:" + outside.port());
            var clients = new ArrayList<Thread>();
            var echoed = new java.util.concurrent.atomic.AtomicInteger();
            for (int i = 0; i < 40; i++) {
                clients.add(Thread.ofVirtual().start(() -> {
                    try (var client = tunnel("good.test:" + outside.port())) {
                        client.getOutputStream().write('x');
                        echoed.addAndGet(client.getInputStream().read() == 'x' ? 1 : 0);
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join();
            }
            assertThat(echoed).hasValue(40);
            assertThat(maxOpen).hasValue(4);
        }
    }

    private static void awaitAll(CyclicBarrier barrier) throws IOException {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IOException(e);
        }
    }

    @Test
    void proxyPortWorksAgainAfterAReconnect() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            allow("good.test:" + outside.port());
            int port = port();
            real.guest().close();
            sandboxEgress.attach(real.accept());
            assertThat(port()).isEqualTo(port);
            assertThat(exchange("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .endsWith("ok");
        }
    }

    @Test
    void tunnelRejectsTheServerNameOfAnotherHost() throws Exception {
        try (var outside = OutsideHost.doing((socket, self) -> self.head(socket))) {
            allow("good.test:" + outside.port());
            for (String name : List.of("evil.test", "good.test.evil.test")) {
                try (var client = tunnel("good.test:" + outside.port())) {
                    client.getOutputStream().write(ServerNameTest.clientHello(name));
                    assertThat(client.getInputStream().read()).isEqualTo(-1);
                }
                assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.NAME_REFUSED);
                assertThat(outside.request()).isEmpty();
            }
            byte[] hello = ServerNameTest.clientHello("good.test");
            try (var client = tunnel("good.test:" + outside.port())) {
                // Byte by byte, as a program that tries to evade the check would send it.
                for (byte b : hello) {
                    client.getOutputStream().write(b);
                    client.getOutputStream().flush();
                }
                client.shutdownOutput();
                assertThat(outside.request().getBytes(StandardCharsets.ISO_8859_1))
                        .isEqualTo(hello);
            }
        }
    }
}
