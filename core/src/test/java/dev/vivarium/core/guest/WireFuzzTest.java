package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The host parses any bytes of a guest or reports a protocol violation. It throws nothing else. The failure message
/// contains the seed.
@Timeout(300)
final class WireFuzzTest {
    private static final int ROUNDS = 250_000;
    private static final long SEED = 20_240_229;

    private final List<Golden> goldens = GoldenTest.sentByTheGuest();
    private final ByteBuffer buffer = ByteBuffer.allocate(FrameReader.MAX_REST + GuestLoop.READ);
    private GuestLoop loop;
    private FakeGuest fake;
    private Connection connection;

    @BeforeEach
    void start() throws IOException {
        loop = GuestLoop.start();
        fake = FakeGuest.connect();
        connection = fake.attach(loop);
        // The host's responses are discarded.
        connection.disconnect(Disconnect.Cause.CLOSED, "only its frames are wanted");
    }

    @AfterEach
    void stop() throws IOException {
        loop.close();
        fake.close();
    }

    @Test
    void mutatedAndRandomFramesAreParsedOrRejected() {
        int rejected = 0;
        for (int round = 0; round < ROUNDS; round++) {
            var random = new SplittableRandom(SEED + round);
            try {
                feed(random, bytes(random));
            } catch (ProtocolViolation e) {
                rejected++;
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + (SEED + round), e);
            }
        }
        assertThat(rejected).isBetween(ROUNDS / 100, ROUNDS);
    }

    /// Passes the bytes to a new reader in pieces of random length. The channels of the golden frames are open.
    private void feed(SplittableRandom random, byte[] bytes) {
        var reader = new FrameReader();
        var channelTable = new ChannelTable(fake.id);
        if (random.nextInt(8) > 0) {
            reader.allowFullFrames();
            channelTable.welcome();
        }
        Service[] services = Service.values();
        for (Golden golden : goldens) {
            if (golden.channel() > 0) {
                Service service = services[random.nextInt(services.length)];
                channelTable.reserve(new Channel(
                        connection,
                        golden.channel(),
                        service,
                        new RequestSubject.File("f"),
                        GuestObserver.NONE,
                        connection.reservation()));
            }
        }
        channelTable.addListener(9, new IncomingConnections(connection, 2, _ -> {}));
        int position = 0;
        while (position < bytes.length) {
            int length = 1 + random.nextInt(bytes.length - position);
            buffer.clear();
            reader.restore(buffer);
            buffer.put(bytes, position, length).flip();
            reader.read(buffer, channelTable);
            channelTable.wake();
            position += length;
        }
        if (channelTable.hello().isDone()) {
            Hello.read(channelTable.hello().join());
        }
    }

    private byte[] bytes(SplittableRandom random) {
        if (random.nextInt(10) == 0) {
            var noise = new byte[random.nextInt(1, 200)];
            random.nextBytes(noise);
            return noise;
        }
        var parts = new ArrayList<byte[]>();
        int total = 0;
        for (int i = random.nextInt(1, 5); i > 0; i--) {
            byte[] frame = goldens.get(random.nextInt(goldens.size())).bytes().clone();
            parts.add(frame);
            total += frame.length;
        }
        ByteBuffer all = ByteBuffer.allocate(total);
        parts.forEach(all::put);
        return mutated(random, all.array());
    }

    private static byte[] mutated(SplittableRandom random, byte[] bytes) {
        for (int i = random.nextInt(4); i > 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(3)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                default -> bytes[at] = random.nextBoolean() ? 0 : (byte) 0xFF;
            }
        }
        return random.nextInt(5) == 0 ? java.util.Arrays.copyOf(bytes, 1 + random.nextInt(bytes.length)) : bytes;
    }

    @Test
    void everyMessageTypeParsesOrReportsAViolation() {
        for (int round = 0; round < ROUNDS; round++) {
            var random = new SplittableRandom(SEED - round);
            byte[] bytes = mutated(
                    random, goldens.get(random.nextInt(goldens.size())).bytes().clone());
            ByteBuffer payload = ByteBuffer.wrap(bytes, Math.min(bytes.length, random.nextInt(12)), 0);
            payload.limit(bytes.length);
            try {
                switch (random.nextInt(3)) {
                    case 0 ->
                        assertThat(Hello.read(new Fields(payload)).survivors()).hasSizeLessThan(1_000);
                    case 1 ->
                        assertThat(GuestError.read(new Fields(payload)).message())
                                .hasSizeLessThanOrEqualTo(300);
                    default ->
                        assertThat(GuestStats.read(new Fields(payload)).uptime())
                                .isGreaterThanOrEqualTo(Duration.ZERO);
                }
            } catch (ProtocolViolation e) {
                assertThat(e).hasNoCause();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + (SEED - round), e);
            }
        }
    }
}
