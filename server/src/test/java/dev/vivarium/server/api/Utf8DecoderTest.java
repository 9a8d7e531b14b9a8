package dev.vivarium.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Utf8DecoderTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 100})
    void charactersSplitAcrossPiecesStayWhole(int pieceLength) {
        String text = "a€𝄞é\u0000z".repeat(7);

        assertThat(decoded(text.getBytes(StandardCharsets.UTF_8), pieceLength)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 100})
    void invalidBytesBecomeReplacementCharacters(int pieceLength) {
        byte[] bytes = {
            'a', (byte) 0xff, 'b', (byte) 0xe2, (byte) 0x82, 'c', (byte) 0xc0, (byte) 0x80, (byte) 0xf0, (byte) 0x9d
        };

        assertThat(decoded(bytes, pieceLength)).isEqualTo(new String(bytes, StandardCharsets.UTF_8));
    }

    @Test
    void completeCharactersAreReturnedImmediately() {
        assertThat(new Utf8Decoder().decode("é".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("é");
    }

    private static String decoded(byte[] bytes, int pieceLength) {
        var decoder = new Utf8Decoder();
        var text = new StringBuilder();
        for (int at = 0; at < bytes.length; at += pieceLength) {
            text.append(decoder.decode(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + pieceLength))));
        }
        return text.append(decoder.end()).toString();
    }
}
