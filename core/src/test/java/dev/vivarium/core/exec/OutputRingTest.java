package dev.vivarium.core.exec;

import static dev.vivarium.model.ExecEvent.Stream.STDERR;
import static dev.vivarium.model.ExecEvent.Stream.STDOUT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class OutputRingTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final OutputRing ring = new OutputRing();

    @Test
    void eachReaderSeesEverythingInOrder() {
        ring.add(STDOUT, bytes("a"));
        ring.add(STDOUT, bytes("b"));
        ring.add(STDERR, bytes("c"));

        var first = ring.next(0, TIMEOUT).orElseThrow();
        var second = ring.next(first.next(), TIMEOUT).orElseThrow();

        assertThat(new String(first.bytes(), StandardCharsets.UTF_8)).isEqualTo("ab");
        assertThat(second.stream()).isEqualTo(STDERR);
        assertThat(second.missed()).isZero();
        assertThat(new String(ring.next(1, TIMEOUT).orElseThrow().bytes(), StandardCharsets.UTF_8))
                .as("read from the middle of a piece")
                .isEqualTo("b");
    }

    @Test
    void nextIsEmptyAfterTheEnd() {
        ring.add(STDOUT, bytes("a"));
        ring.end();

        assertThat(ring.isOver(0)).isFalse();
        assertThat(ring.next(1, TIMEOUT)).isEmpty();
        assertThat(ring.isOver(1)).isTrue();
    }

    @Test
    void lateReaderGetsTheNumberOfMissedBytes() {
        for (int i = 0; i < 100; i++) {
            ring.add(STDOUT, new byte[65_536]);
        }
        ring.end();
        long seen = 0;
        long missed = 0;
        for (long place = 0; !ring.isOver(place); ) {
            var found = ring.next(place, TIMEOUT).orElseThrow();
            seen += found.bytes().length;
            missed += found.missed();
            place = found.next();
        }
        assertThat(seen + missed).isEqualTo(100 * 65_536);
        assertThat(seen).isEqualTo(OutputRing.MAX_BYTES);
    }

    @Test
    void numberOfSmallPiecesIsLimited() {
        for (int i = 0; i < 100_000; i++) {
            ring.add(i % 2 == 0 ? STDOUT : STDERR, bytes("x"));
        }
        var found = ring.next(0, TIMEOUT).orElseThrow();
        assertThat(found.missed()).isBetween(90_000L, 99_999L);
    }

    @Test
    void fastReaderMissesNothing() throws Exception {
        var written = new ByteArrayOutputStream();
        var read = new ByteArrayOutputStream();
        var random = new Random(7);
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var reader = workers.submit(() -> {
                for (long place = 0; !ring.isOver(place); ) {
                    var found = ring.next(place, TIMEOUT);
                    if (found.isPresent()) {
                        assertThat(found.get().missed()).isZero();
                        read.writeBytes(found.get().bytes());
                        place = found.get().next();
                    }
                }
            });
            // Less than the ring keeps, so that the reader may be arbitrarily slow.
            while (written.size() < 200_000) {
                var bytes = new byte[1 + random.nextInt(5_000)];
                random.nextBytes(bytes);
                written.writeBytes(bytes);
                ring.add(random.nextBoolean() ? STDOUT : STDERR, bytes);
            }
            ring.end();
            reader.get();
        }
        assertThat(read.toByteArray()).isEqualTo(written.toByteArray());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
