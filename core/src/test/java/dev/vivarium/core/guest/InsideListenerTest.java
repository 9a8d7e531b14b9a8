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

/// Connections that come from inside: what a real guest brings, and what a bad one may not.
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
    void bytesGoBothWaysAndTheConnectionEndsWithItsTaker() throws Exception {
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
    void thePortThatIsAskedForIsGivenAndATakenOneRefused() {
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
                    return false; // The guest has not heard of the close.
                }
            });
        }
    }

    @Test
    void severalListenersAreServedEachByItsOwn() throws Exception {
        try (RealGuest real = RealGuest.start();
                InsideListener first = real.guest().listen(0, 2, channel -> say(channel, "first"));
                InsideListener second = real.guest().listen(0, 2, channel -> say(channel, "second"))) {
            // More than either may have at a time: each place is given back to its own listener.
            for (int i = 0; i < 5; i++) {
                assertThat(hear(first)).isEqualTo("first");
                assertThat(hear(second)).isEqualTo("second");
            }
        }
    }

    private static void say(Channel channel, String text) {
        channel.write(text.getBytes(StandardCharsets.UTF_8), 0, text.length());
        channel.closeInput();
        while (channel.next() instanceof Message.Data) {
            // Until the other side has hung up.
        }
    }

    private static String hear(InsideListener listener) throws IOException {
        try (var client = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aConnectionThatComesWithTheAnswerIsServed() throws Exception {
        Guest guest = FakeGuest.greeted(loop, fake);
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
    void aConnectionThatNobodyListensForBreaksTheProtocol() throws Exception {
        violates(_ -> arrive(FIRST, 77));
    }

    @Test
    void aConnectionOnANumberOfTheHostsBreaksTheProtocol() throws Exception {
        violates(listener -> arrive(5, listener));
    }

    @Test
    void aSecondConnectionOnOneNumberBreaksTheProtocol() throws Exception {
        violates(listener -> {
            arrive(FIRST, listener);
            arrive(FIRST, listener);
        });
    }

    @Test
    void moreConnectionsThanAllowedBreakTheProtocol() throws Exception {
        violates(listener -> {
            arrive(FIRST, listener);
            arrive(FIRST + 1, listener);
            arrive(FIRST + 2, listener);
        });
    }

    @Test
    void moreDataThanItsCreditOnAConnectionBreaksTheProtocol() throws Exception {
        violates(listener -> {
            arrive(FIRST, listener);
            for (int sent = 0; sent <= Service.DIAL.initialWindow(); sent += 65_536) {
                send(new Payload().u8(1).fixed(new byte[65_536]).frame(FIRST, Kind.DATA));
            }
        });
    }

    /// Opens a listener for two connections whose taker never reads, and has the guest misbehave.
    private void violates(Consumer<Integer> misbehaviour) throws Exception {
        Guest guest = FakeGuest.greeted(loop, fake);
        var over = new CountDownLatch(1);
        var listener = inBackground(() -> guest.listen(0, 2, _ -> {
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        int number = fake.receive().channel();
        fake.send(new Payload().u16(3128).frame(number, Kind.STARTED));
        assertThat(listener.join().port()).isEqualTo(3128);
        misbehaviour.accept(number);
        await().until(() -> !guest.isOpen());
        over.countDown();
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
