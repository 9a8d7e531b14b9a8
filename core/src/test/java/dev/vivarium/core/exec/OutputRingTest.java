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
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final OutputRing tail = new OutputRing();

    @Test
    void eachReaderSeesEverythingInOrder() {
        tail.add(STDOUT, bytes("a"));
        tail.add(STDOUT, bytes("b"));
        tail.add(STDERR, bytes("c"));

        var first = tail.next(0, PATIENCE).orElseThrow();
        var second = tail.next(first.next(), PATIENCE).orElseThrow();

        assertThat(new String(first.bytes(), StandardCharsets.UTF_8)).isEqualTo("ab");
        assertThat(second.stream()).isEqualTo(STDERR);
        assertThat(second.missed()).isZero();
        assertThat(new String(tail.next(1, PATIENCE).orElseThrow().bytes(), StandardCharsets.UTF_8))
                .as("from inside a piece")
                .isEqualTo("b");
    }

    @Test
    void nothingIsFoundAfterTheEnd() {
        tail.add(STDOUT, bytes("a"));
        tail.end();

        assertThat(tail.isOver(0)).isFalse();
        assertThat(tail.next(1, PATIENCE)).isEmpty();
        assertThat(tail.isOver(1)).isTrue();
    }

    @Test
    void aReaderThatIsTooLateIsToldHowMuchItMissed() {
        for (int i = 0; i < 100; i++) {
            tail.add(STDOUT, new byte[65_536]);
        }
        tail.end();
        long seen = 0;
        long missed = 0;
        for (long place = 0; !tail.isOver(place); ) {
            var found = tail.next(place, PATIENCE).orElseThrow();
            seen += found.bytes().length;
            missed += found.missed();
            place = found.next();
        }
        assertThat(seen + missed).isEqualTo(100 * 65_536);
        assertThat(seen).isEqualTo(OutputRing.MAX_BYTES);
    }

    @Test
    void tinyPiecesOfTwoStreamsAreBoundedByNumber() {
        for (int i = 0; i < 100_000; i++) {
            tail.add(i % 2 == 0 ? STDOUT : STDERR, bytes("x"));
        }
        var found = tail.next(0, PATIENCE).orElseThrow();
        assertThat(found.missed()).isBetween(90_000L, 99_999L);
    }

    @Test
    void aReaderThatKeepsUpLosesNothing() throws Exception {
        var written = new ByteArrayOutputStream();
        var read = new ByteArrayOutputStream();
        var random = new Random(7);
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var reader = workers.submit(() -> {
                for (long place = 0; !tail.isOver(place); ) {
                    var found = tail.next(place, PATIENCE);
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
                tail.add(random.nextBoolean() ? STDOUT : STDERR, bytes);
            }
            tail.end();
            reader.get();
        }
        assertThat(read.toByteArray()).isEqualTo(written.toByteArray());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
