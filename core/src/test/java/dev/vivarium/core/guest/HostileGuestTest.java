package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Guests that violate the protocol. After each test, another guest on the same loop must still answer.
@Timeout(300)
final class HostileGuestTest {
    private static final int WINDOW = Service.EXEC.initialWindow();
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private GuestLoop loop;
    private FakeGuest bystander;
    private Guest otherGuest;
    private FakeGuest fake;

    @BeforeEach
    void start() throws IOException {
        loop = GuestLoop.start();
        bystander = FakeGuest.connect();
        otherGuest = FakeGuest.connected(loop, bystander);
        fake = FakeGuest.connect();
    }

    @AfterEach
    void otherGuestStillAnswers() throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Duration> ping = workers.submit(() -> otherGuest.pingWithin(TIMEOUT));
            FakeGuest.Frame frame = bystander.receive();
            assertThat(frame.kind()).isEqualTo(Kind.PING.code);
            bystander.send(new Payload().u64(frame.payload().getLong()).frame(0, Kind.PONG));
            assertThat(ping.get()).isPositive();
        }
        loop.close();
        fake.close();
        bystander.close();
    }

    @Test
    void wrongSecretIsRejected() throws IOException {
        fake.send(FakeGuest.hello("another secret", 0));
        assertUnreachable(() -> fake.handshake(loop), "another secret");
        assertThat(fake.receive().kind()).isEqualTo(Kind.REFUSE.code);
        assertThat(fake.isHungUp()).isTrue();
    }

    @Test
    void silentGuestTimesOut() throws IOException {
        Connection connection = fake.attach(loop);
        assertUnreachable(
                () -> Guest.handshake(connection, FakeGuest.SECRET, Duration.ofMillis(50)), "no answer within");
        assertThat(fake.isHungUp()).isTrue();
    }

    @Test
    void disconnectDuringTheHandshakeFailsImmediately() throws IOException {
        Connection connection = fake.attach(loop);
        fake.close();
        assertUnreachable(() -> Guest.handshake(connection, FakeGuest.SECRET, Duration.ofHours(1)), "hung up");
    }

    @Test
    void oversizedHelloClosesTheConnectionBeforeItIsRead() throws IOException {
        fake.send(ByteBuffer.allocate(Payload.HEADER)
                .putInt(0, FrameReader.MAX_FIRST_PAYLOAD + 1)
                .put(8, Kind.HELLO.code));
        assertUnreachable(() -> fake.handshake(loop), "65537 bytes");
    }

    @Test
    void helloWithoutTheMagicClosesTheConnection() throws IOException {
        fake.send(new Payload()
                .fixed("HTTP/1.1 200".getBytes(StandardCharsets.US_ASCII))
                .frame(0, Kind.HELLO));
        assertUnreachable(() -> fake.handshake(loop), "VIVG");
    }

    @Test
    void helloWithFourBillionSurvivorsAllocatesNothing() throws IOException {
        fake.send(FakeGuest.hello(FakeGuest.SECRET, 0xFFFF_FFFFL));
        assertUnreachable(() -> fake.handshake(loop), "ends inside a field");
    }

    @Test
    void firstFrameOtherThanHelloClosesTheConnection() throws IOException {
        fake.send(new Payload().u64(1).frame(0, Kind.PONG));
        assertUnreachable(() -> fake.handshake(loop), "HELLO");
    }

    @Test
    void frameBeforeTheWelcomeClosesTheConnection() throws IOException {
        fake.send(
                join(FakeGuest.hello(FakeGuest.SECRET, 0), new Payload().u64(1).frame(0, Kind.PONG)));
        Connection connection = fake.attach(loop);
        await().until(() -> connection.loss().isPresent());
        assertThat(connection.loss().orElseThrow().cause()).isEqualTo(Disconnect.Cause.VIOLATION);
        assertThat(fake.isHungUp()).isTrue();
    }

    @Test
    void guestWithoutACommonGenerationIsRejected() throws IOException {
        fake.send(new Payload()
                .fixed("VIVG".getBytes(StandardCharsets.US_ASCII))
                .u16(0)
                .u64(FakeGuest.ALL_FEATURES)
                .string(FakeGuest.SECRET)
                .string("old")
                .u32(0)
                .frame(0, Kind.HELLO));
        assertUnreachable(() -> fake.handshake(loop), "generation");
        assertThat(fake.receive().kind()).isEqualTo(Kind.REFUSE.code);
    }

    @Test
    void handshakeWorksByteByByte() throws IOException {
        Connection connection = fake.attach(loop);
        ByteBuffer hello = FakeGuest.hello(FakeGuest.SECRET, 0);
        while (hello.hasRemaining()) {
            fake.send(ByteBuffer.wrap(new byte[] {hello.get()}));
        }
        Guest guest = Guest.handshake(connection, FakeGuest.SECRET, TIMEOUT);
        assertThat(guest.build()).isEqualTo("fake");
    }

    @Test
    void dataBeyondTheCreditClosesTheConnection() throws IOException {
        assertViolation("credit", channel -> {
            for (int sent = 0; sent <= WINDOW; sent += 65_536) {
                data(channel, 1, 65_536);
            }
        });
    }

    @Test
    void dataOnAnUnknownStreamClosesTheConnection() throws IOException {
        assertViolation("stream 3", channel -> data(channel, 3, 1));
    }

    @Test
    void dataAfterEofClosesTheConnection() throws IOException {
        assertViolation("stream 1", channel -> {
            send(new Payload().u8(1).frame(channel, Kind.EOF));
            data(channel, 1, 1);
        });
    }

    @Test
    void emptyDataFrameClosesTheConnection() throws IOException {
        assertViolation("0 bytes", channel -> data(channel, 1, 0));
    }

    @Test
    void oversizedDataFrameClosesTheConnection() throws IOException {
        assertViolation("65537 bytes", channel -> data(channel, 1, 65_537));
    }

    @Test
    void oversizedFrameClosesTheConnection() throws IOException {
        assertViolation(
                "262145 bytes",
                _ -> send(ByteBuffer.allocate(9).putInt(0, Payload.MAX + 1).put(8, Kind.END.code)));
    }

    @Test
    void frameWithANegativeLengthClosesTheConnection() throws IOException {
        assertViolation(
                "4294967295 bytes",
                _ -> send(ByteBuffer.allocate(9).putInt(0, -1).put(8, Kind.END.code)));
    }

    @Test
    void frameOfAnUnknownKindClosesTheConnection() throws IOException {
        assertViolation(
                "kind 9",
                channel -> send(ByteBuffer.allocate(9).putInt(4, channel).put(8, (byte) 9)));
    }

    @Test
    void frameInTheWrongDirectionClosesTheConnection() throws IOException {
        assertViolation("not for the host", channel -> send(new Payload().frame(channel, Kind.OPEN)));
    }

    @Test
    void secondHelloClosesTheConnection() throws IOException {
        assertViolation("HELLO", _ -> send(FakeGuest.hello(FakeGuest.SECRET, 0)));
    }

    @Test
    void channelFrameOnChannelZeroClosesTheConnection() throws IOException {
        assertViolation("channel 0", _ -> data(0, 1, 1));
    }

    @Test
    void truncatedFrameClosesTheConnection() throws IOException {
        assertViolation(
                "ends inside a field", channel -> send(new Payload().u8(0).frame(channel, Kind.CREDIT)));
    }

    @Test
    void truncatedResultClosesTheConnection() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Future<GuestStats> stats = inBackground(guest::stats);
        fake.end(fake.receive().channel(), new Payload().u32(1));
        assertUnreachable(stats::get, "ends inside a field");
        assertThat(guest.loss().orElseThrow().cause()).isEqualTo(Disconnect.Cause.VIOLATION);
    }

    @Test
    void framesForUnknownAndEndedChannelsAreIgnored() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Channel channel = open(guest);
        int number = fake.receive().channel();
        fake.data(4711, 1, 100);
        fake.end(-1, new Payload());
        fake.end(number, new Payload().u64(42));
        fake.end(number, new Payload().u64(43));
        fake.data(number, 1, 100);
        assertThat(channel.<Long>result(Fields::u64)).isEqualTo(42);
        assertThat(answersAPing(guest)).isTrue();
    }

    @Test
    void disconnectAfterHalfAFrameReleasesWaiters() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Channel channel = open(guest);
        Future<Message> message = inBackground(channel::next);
        fake.receive();
        fake.send(ByteBuffer.allocate(20).putInt(0, 100).put(8, Kind.END.code));
        fake.close();
        assertUnreachable(message::get, "hung up");
        assertUnreachable(() -> guest.pingWithin(TIMEOUT), "hung up");
        assertUnreachable(() -> channel.write(new byte[1], 0, 1), "hung up");
        assertUnreachable(() -> open(guest), "hung up");
        assertThat(guest.isOpen()).isFalse();
    }

    @Test
    void guestThatStopsReadingBlocksOnlyItsWriters() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Channel channel = open(guest);
        fake.send(new Payload().u8(0).u32(0xFFFF_FFFFL).frame(fake.receive().channel(), Kind.CREDIT));
        var data = new byte[8 << 20];
        Future<Boolean> writer = inBackground(() -> channel.write(data, 0, data.length));
        Future<Boolean> second = inBackground(() -> channel.write(data, 0, data.length));
        await().pollDelay(Duration.ofMillis(100)).until(() -> !writer.isDone() && !second.isDone());
        guest.close();
        assertUnreachable(writer::get, "closed");
        assertUnreachable(second::get, "closed");
    }

    @Test
    void dataAfterAChannelCloseIsDropped() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Channel channel = open(guest);
        int number = fake.receive().channel();
        channel.close();
        assertThat(fake.receive().kind()).isEqualTo(Kind.CLOSE.code);
        for (int i = 0; i < 40; i++) {
            fake.data(number, 1, 65_536);
        }
        fake.end(number, new Payload().u64(0));
        assertThat(answersAPing(guest)).isTrue();
    }

    @Test
    void numberOfUnfinishedChannelsIsLimited() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Future<?> reader = inBackground(fake::isHungUp);
        for (int i = 0; i < ChannelTable.MAX_CHANNELS; i++) {
            open(guest).close();
        }
        assertThatThrownBy(() -> open(guest))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure())
                                .isEqualTo(new Failure.TooManyCommands(fake.id, ChannelTable.MAX_CHANNELS)));
        guest.close();
        await().until(reader::isDone);
    }

    @Test
    void channelNumbersOfSurvivorsAreNotReused() throws IOException {
        Guest guest = connectedWithSurvivor();
        assertThat(guest.survivors()).extracting(SurvivingProcess::pid).containsExactly(77);
        open(guest);
        assertThat(fake.receive().channel()).isEqualTo(2);
        guest.detach(guest.survivors().getFirst());
        assertThat(fake.receive())
                .extracting(FakeGuest.Frame::channel, FakeGuest.Frame::kind)
                .containsExactly(1, (int) Kind.DETACH.code);
    }

    @Test
    void attachThroughAnUnnoticedGuestIsNoActivity() throws IOException {
        Guest guest = connectedWithSurvivor();
        var opened = new ArrayList<Service>();
        guest.observedBy(new GuestObserver() {
            @Override
            public void began(Service service) {
                opened.add(service);
            }
        });
        SurvivingProcess survivor = guest.survivors().getFirst();
        var _ = guest.withoutObserver().attach(survivor, new RequestSubject.Machine());
        assertThat(fake.receive().kind()).isEqualTo(Kind.ATTACH.code);
        assertThat(opened).isEmpty();
    }

    private Guest connectedWithSurvivor() throws IOException {
        fake.send(FakeGuest.helloFields(FakeGuest.SECRET)
                .u32(1)
                .u32(1)
                .u8(1)
                .u32(77)
                .u64(1_000)
                .frame(0, Kind.HELLO));
        Guest guest = fake.handshake(loop);
        fake.receive();
        return guest;
    }

    @Test
    void serviceMissingInTheGuestIsUnsupported() throws IOException {
        fake.send(new Payload()
                .fixed("VIVG".getBytes(StandardCharsets.US_ASCII))
                .u16(1)
                .u64(1L << Service.EXEC.code)
                .string(FakeGuest.SECRET)
                .string("old\u001b[31m one")
                .u32(0)
                .frame(0, Kind.HELLO));
        Guest guest = fake.handshake(loop);
        assertThatThrownBy(guest::stats)
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure())
                                .isInstanceOfSatisfying(
                                        Failure.Unsupported.class,
                                        f -> assertThat(f.why()).contains("old [31m one")));
        assertThat(guest.isOpen()).isTrue();
    }

    @Test
    void lossListenersRunOnceOnAVirtualThread() throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        var calls = new AtomicInteger();
        var worker = new CompletableFuture<Thread>();
        guest.onLost(() -> {
            calls.incrementAndGet();
            worker.complete(Thread.currentThread());
        });
        fake.close();
        assertThat(worker.join().isVirtual()).isTrue();
        guest.close();
        guest.close();
        assertThat(calls).hasValue(1);
        var late = new CompletableFuture<Boolean>();
        guest.onLost(() -> late.complete(true));
        assertThat(late.join()).isTrue();
    }

    @Test
    void closingTheLoopReleasesAllWaiters() throws IOException {
        GuestLoop another = GuestLoop.start();
        try (FakeGuest fakeOfLoop = FakeGuest.connect()) {
            Guest guest = FakeGuest.connected(another, fakeOfLoop);
            Channel channel = open(guest);
            Future<Message> message = inBackground(channel::next);
            another.close();
            another.close();
            assertUnreachable(message::get, "stopping");
            assertThat(fakeOfLoop.isHungUp()).isTrue();
        }
    }

    private static Channel open(Guest guest) {
        return guest.open(Service.EXEC, new Payload(), new RequestSubject.Program("test"));
    }

    /// Opens a channel, lets the guest misbehave on it, and asserts that the host closes the connection with this
    /// reason.
    private void assertViolation(String why, Consumer<Integer> misbehaviour) throws IOException {
        Guest guest = FakeGuest.connected(loop, fake);
        Channel channel = open(guest);
        int number = fake.receive().channel();
        misbehaviour.accept(number);
        // No read before the loss: a read returns credit to the guest.
        await().until(() -> !guest.isOpen());
        assertUnreachable(() -> channel.result(Fields::isEmpty), why);
        assertThat(guest.loss().orElseThrow().cause()).isEqualTo(Disconnect.Cause.VIOLATION);
        assertThat(fake.isHungUp()).isTrue();
    }

    private boolean answersAPing(Guest guest) throws IOException {
        Future<Duration> ping = inBackground(() -> guest.pingWithin(TIMEOUT));
        FakeGuest.Frame frame = fake.receive();
        while (frame.kind() != Kind.PING.code) {
            frame = fake.receive();
        }
        fake.send(new Payload().u64(frame.payload().getLong()).frame(0, Kind.PONG));
        await().until(ping::isDone);
        return guest.isOpen();
    }

    private void data(int channel, int stream, int length) {
        send(new Payload().u8(stream).fixed(new byte[length]).frame(channel, Kind.DATA));
    }

    /// Sends a frame. The host may close the connection before it reads the whole frame.
    private void send(ByteBuffer frame) {
        try {
            fake.send(frame);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    private static ByteBuffer join(ByteBuffer first, ByteBuffer second) {
        ByteBuffer all = ByteBuffer.allocate(first.remaining() + second.remaining());
        return all.put(first).put(second).flip();
    }

    private interface Work<T> {
        T run() throws Exception;
    }

    private static <T> Future<T> inBackground(Work<T> work) {
        var result = new CompletableFuture<T>();
        Thread.ofVirtual().start(() -> {
            try {
                result.complete(work.run());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static void assertUnreachable(ThrowingCallable call, String why) {
        assertThatThrownBy(call).satisfies(thrown -> {
            Throwable real = thrown instanceof java.util.concurrent.ExecutionException ? thrown.getCause() : thrown;
            assertThat(real)
                    .isInstanceOfSatisfying(
                            SandboxException.class,
                            e -> assertThat(e.failure())
                                    .isInstanceOfSatisfying(
                                            Failure.GuestUnreachable.class,
                                            f -> assertThat(f.why()).contains(why)));
        });
    }
}
