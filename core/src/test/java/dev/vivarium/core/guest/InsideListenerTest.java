package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Connections that processes inside the sandbox open, with a real guest and with a misbehaving one.
@Timeout(300)
final class InsideListenerTest {
    private static final int FIRST = 1 << 31 | 1;

    private GuestLoop loop;
    private FakeGuest fake;

    @BeforeEach
    void start() throws IOException {
        loop = GuestLoop.start();
        fake = FakeGuest.connect();
    }

    @AfterEach
    void stop() throws IOException {
        loop.close();
        fake.close();
    }

    @Test
    void connectionCopiesBytesInBothDirections() throws Exception {
        var data = new byte[3_000_000];
        new Random(7).nextBytes(data);
        try (RealGuest real = RealGuest.start();
                InsideListener listener = real.guest().listen(0, 4, InsideListenerTest::echo);
                var client = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            Thread writer = Thread.ofVirtual().start(() -> {
                try {
                    client.getOutputStream().write(data);
                    client.shutdownOutput();
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            assertThat(client.getInputStream().readAllBytes()).isEqualTo(data);
            writer.join();
        }
    }

    private static void echo(Channel channel) {
        while (channel.next() instanceof Message.Data(int _, byte[] bytes)) {
            channel.write(bytes, 0, bytes.length);
        }
        channel.closeInput();
        channel.result(Fields::isEmpty);
    }

    @Test
    void requestedPortIsBoundAndATakenPortIsRejected() {
        try (RealGuest real = RealGuest.start()) {
            int port;
            try (InsideListener listener = real.guest().listen(0, 4, InsideListenerTest::echo)) {
                port = listener.port();
                assertThatThrownBy(() -> real.guest().listen(port, 4, InsideListenerTest::echo))
                        .isInstanceOfSatisfying(
                                SandboxException.class,
                                e -> assertThat(e.failure()).isInstanceOf(Failure.ProviderFailed.class));
            }
            await().until(() -> {
                try (InsideListener again = real.guest().listen(port, 4, InsideListenerTest::echo)) {
                    return again.port() == port;
                } catch (SandboxException e) {
                    return false; // The guest has not yet processed the close.
                }
            });
        }
    }

    @Test
    void eachListenerServesItsOwnConnections() throws Exception {
        try (RealGuest real = RealGuest.start();
                InsideListener first = real.guest().listen(0, 2, channel -> sendText(channel, "first"));
                InsideListener second = real.guest().listen(0, 2, channel -> sendText(channel, "second"))) {
            // More than the limit of each listener: every slot is released to its own listener.
            for (int i = 0; i < 5; i++) {
                assertThat(receiveText(first)).isEqualTo("first");
                assertThat(receiveText(second)).isEqualTo("second");
            }
        }
    }

    private static void sendText(Channel channel, String text) {
        channel.write(text.getBytes(StandardCharsets.UTF_8), 0, text.length());
        channel.closeInput();
        while (channel.next() instanceof Message.Data) {
            // Until the peer closes the connection.
        }
    }

    private static String receiveText(InsideListener listener) throws IOException {
        try (var client = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void connectionRightAfterTheResponseIsServed() throws Exception {
        Guest guest = FakeGuest.connected(loop, fake);
        var served = new CompletableFuture<Integer>();
        var listener = inBackground(() -> guest.listen(0, 1, channel -> served.complete(channel.number())));
        int number = fake.receive().channel();
        fake.send(new Payload().u16(3128).frame(number, Kind.STARTED));
        arrive(FIRST, number);
        assertThat(listener.join().port()).isEqualTo(3128);
        assertThat(served.join()).isEqualTo(FIRST);
        FakeGuest.Frame close = fake.receive();
        assertThat(close.channel()).isEqualTo(FIRST);
        assertThat(close.kind()).isEqualTo(Kind.CLOSE.code);
    }

    @Test
    void connectionWithoutAListenerIsAViolation() throws Exception {
        assertViolation(_ -> arrive(FIRST, 77));
    }

    @Test
    void connectionOnAHostChannelNumberIsAViolation() throws Exception {
        assertViolation(listener -> arrive(5, listener));
    }

    @Test
    void secondConnectionOnOneNumberIsAViolation() throws Exception {
        assertViolation(listener -> {
            arrive(FIRST, listener);
            arrive(FIRST, listener);
        });
    }

    @Test
    void tooManyConnectionsAreAViolation() throws Exception {
        assertViolation(listener -> {
            arrive(FIRST, listener);
            arrive(FIRST + 1, listener);
            arrive(FIRST + 2, listener);
        });
    }

    @Test
    void dataBeyondTheCreditIsAViolation() throws Exception {
        assertViolation(listener -> {
            arrive(FIRST, listener);
            for (int sent = 0; sent <= Service.DIAL.initialWindow(); sent += 65_536) {
                send(new Payload().u8(1).fixed(new byte[65_536]).frame(FIRST, Kind.DATA));
            }
        });
    }

    /// Opens a listener for two connections whose handler never reads, lets the guest misbehave, and asserts a
    /// violation.
    private void assertViolation(Consumer<Integer> misbehaviour) throws Exception {
        Guest guest = FakeGuest.connected(loop, fake);
        var finished = new CountDownLatch(1);
        var listener = inBackground(() -> guest.listen(0, 2, _ -> {
            try {
                finished.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        int number = fake.receive().channel();
        fake.send(new Payload().u16(3128).frame(number, Kind.STARTED));
        assertThat(listener.join().port()).isEqualTo(3128);
        misbehaviour.accept(number);
        await().until(() -> !guest.isOpen());
        finished.countDown();
        assertThat(guest.loss().orElseThrow().cause()).isEqualTo(Disconnect.Cause.VIOLATION);
    }

    private void arrive(int number, int listener) {
        send(new Payload().u32(listener).frame(number, Kind.ARRIVED));
    }

    private void send(java.nio.ByteBuffer frame) {
        try {
            fake.send(frame);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    private static CompletableFuture<InsideListener> inBackground(java.util.function.Supplier<InsideListener> work) {
        return CompletableFuture.supplyAsync(work, task -> Thread.ofVirtual().start(task));
    }
}
