package dev.vivarium.core.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ScrollbackTest {
    @Test
    void scrollbackKeepsTheLastBytesInOrder() {
        var random = new Random(42);
        var scrollback = new Scrollback(0);
        var all = new ByteArrayOutputStream();
        for (int i = 0; i < 400; i++) {
            var piece = new byte[random.nextInt(5_000)];
            random.nextBytes(piece);
            scrollback.append(piece, 0, piece.length);
            all.writeBytes(piece);
            assertHolds(scrollback, all.toByteArray());
        }
        assertThat(scrollback.end() - scrollback.first()).isEqualTo(Scrollback.CAPACITY);
    }

    @Test
    void oversizedPieceKeepsItsLastBytes() {
        var piece = new byte[Scrollback.CAPACITY + 777];
        new Random(1).nextBytes(piece);
        var scrollback = new Scrollback(0);
        scrollback.append(piece, 0, piece.length);
        assertThat(scrollback.first()).isEqualTo(777);
        assertHolds(scrollback, piece);
    }

    @Test
    void scrollbackContinuesAfterAGap() {
        var scrollback = new Scrollback(0);
        scrollback.append(new byte[100], 0, 100);
        scrollback.skipTo(1_000_001);
        scrollback.append(new byte[] {1, 2, 3}, 1, 2);
        assertThat(scrollback.first()).isEqualTo(1_000_001);
        assertThat(scrollback.read(1_000_001, 10)).containsExactly(2, 3);
    }

    private static void assertHolds(Scrollback scrollback, byte[] all) {
        assertThat(scrollback.end()).isEqualTo(all.length);
        byte[] expected = Arrays.copyOfRange(all, (int) scrollback.first(), all.length);
        assertThat(scrollback.read(scrollback.first(), Integer.MAX_VALUE)).isEqualTo(expected);
    }
}
