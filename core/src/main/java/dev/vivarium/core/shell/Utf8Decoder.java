package dev.vivarium.core.shell;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Turns a stream of bytes into text, piece by piece, and never cuts a character: one whose end has not come waits for
/// it. What is not UTF-8 becomes replacement characters. Guarded by its shell's lock.
final class Utf8Decoder {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /// The beginning of a character: at most three bytes.
    private byte[] rest = new byte[0];

    String decode(byte[] bytes) {
        var input = ByteBuffer.allocate(rest.length + bytes.length)
                .put(rest)
                .put(bytes)
                .flip();
        var text = CharBuffer.allocate(input.remaining() + 1);
        decoder.decode(input, text, false);
        rest = new byte[input.remaining()];
        input.get(rest);
        return text.flip().toString();
    }

    /// Nothing follows what came before: a character that is only half there never will be.
    String cut() {
        boolean half = rest.length > 0;
        rest = new byte[0];
        decoder.reset();
        return half ? "\uFFFD" : "";
    }
}
