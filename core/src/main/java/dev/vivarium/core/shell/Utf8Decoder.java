package dev.vivarium.core.shell;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Incremental UTF-8 decoder that never splits a character: it holds back an incomplete one. Guarded by the lock of its
/// shell.
///
/// Invalid bytes become replacement characters.
final class Utf8Decoder {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /// Start of an incomplete character: at most three bytes.
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

    /// Ends the input. An incomplete character becomes a replacement character.
    String cut() {
        boolean half = rest.length > 0;
        rest = new byte[0];
        decoder.reset();
        return half ? "\uFFFD" : "";
    }
}
