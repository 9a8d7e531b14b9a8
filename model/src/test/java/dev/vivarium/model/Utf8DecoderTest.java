package dev.vivarium.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class Utf8DecoderTest {
    /// Borders of every class of bytes in the UTF-8 grammar.
    private static final int[] BORDERS = {
        0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
        0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF
    };

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 100})
    void charactersThatAPieceSplitsAppearWhole(int pieceLength) {
        String text = "a€𝄞é\u0000z".repeat(7);

        assertThat(decoded(text.getBytes(StandardCharsets.UTF_8), pieceLength)).isEqualTo(text);
    }

    @Test
    void completeCharactersAreNotHeldBack() {
        assertThat(new Utf8Decoder().decode("é".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("é");
    }

    @Test
    void theEndOfTheInputResetsTheDecoder() {
        var decoder = new Utf8Decoder();

        assertThat(decoder.decode(new byte[] {(byte) 0xE2, (byte) 0x82})).isEmpty();
        assertThat(decoder.end()).isEqualTo("\uFFFD");
        assertThat(decoder.end()).isEmpty();
        assertThat(decoder.decode(new byte[] {'x', 'a', 'y'}, 1, 1)).isEqualTo("a");
    }

    @Test
    void everyShortSequenceDecodesAsAWhole() {
        var bytes = new byte[4];
        for (int number = 0; number < Math.powExact(BORDERS.length, bytes.length); number++) {
            for (int i = 0, rest = number; i < bytes.length; i++, rest /= BORDERS.length) {
                bytes[i] = (byte) BORDERS[rest % BORDERS.length];
            }
            requireSame(bytes, decoded(bytes, 1));
        }
    }

    @Test
    void randomBytesInRandomPiecesDecodeAsAWhole() {
        var random = new Random(7);
        for (int round = 0; round < 20_000; round++) {
            var bytes = new byte[random.nextInt(40)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) BORDERS[random.nextInt(BORDERS.length)];
            }
            var decoder = new Utf8Decoder();
            var text = new StringBuilder();
            for (int at = 0, count; at < bytes.length; at += count) {
                count = random.nextInt(bytes.length - at + 1);
                text.append(decoder.decode(bytes, at, count));
            }
            requireSame(bytes, text.append(decoder.end()).toString());
        }
    }

    private static void requireSame(byte[] bytes, String text) {
        if (!text.equals(new String(bytes, StandardCharsets.UTF_8))) {
            assertThat(text).as(Arrays.toString(bytes)).isEqualTo(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    private static String decoded(byte[] bytes, int pieceLength) {
        var decoder = new Utf8Decoder();
        var text = new StringBuilder();
        for (int at = 0; at < bytes.length; at += pieceLength) {
            text.append(decoder.decode(bytes, at, Math.min(pieceLength, bytes.length - at)));
        }
        return text.append(decoder.end()).toString();
    }
}
